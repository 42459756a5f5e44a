"""Drawing: what the pages are made of. The only part of the package that knows Streamlit."""
