"""Plain HTTP: who a browser is, the page's handler, /read/, /healthz, compressed scripts."""
