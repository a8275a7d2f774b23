"""The 3D objects, rendered by MuJoCo."""
