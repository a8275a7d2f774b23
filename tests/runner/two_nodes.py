"""A Ray cluster of two nodes with a processor each, on loopback, until standard input ends. It prints its address."""

import sys

from ray.cluster_utils import Cluster

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False, "node_ip_address": "127.0.0.1"}

if __name__ == "__main__":
    cluster = Cluster(initialize_head=True, head_node_args=NODE, shutdown_at_exit=True)
    try:
        cluster.add_node(**NODE)
        cluster.wait_for_nodes()
        print(cluster.address, flush=True)
        sys.stdin.read()
    finally:
        cluster.shutdown()
