"""The site: `sphinx-build -W docs site`, with what `pip install 'implicature[docs]'` brings, nothing from elsewhere."""

from implicature import __version__

project, author, release, version = "implicature", "the implicature authors", __version__, __version__
copyright = "MIT licence"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["site"]
nitpicky = False

# Markdown as it is read on its own, too: headings are targets of links.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

# Docstrings are plain English with names in backticks.
default_role = "code"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = f"implicature {__version__}"
html_favicon = "../src/implicature/web/static/icon.svg"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"footer_icons": []}
