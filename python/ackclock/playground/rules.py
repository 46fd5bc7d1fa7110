"""Who may ask the server for what: the browser of this machine, for the page that the server sent.

Another site can make a browser send requests to this machine, and by DNS rebinding even read the answers. The checks
of `Host`, `Origin`, `Sec-Fetch-Site`, the type of the content and the page's token refuse such requests.
"""

from __future__ import annotations

from email.message import Message

LARGEST_REQUEST = 4_000_000
"""Largest body in bytes: two scenarios of the largest size, as JSON."""
SESSION = "Ackclock-Session"
EMPTY = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
"""The hash of no text: plotly.js makes an empty style, to which it then adds its rules."""
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "worker-src blob:",
        "connect-src 'self'",
        f"style-src 'self' {EMPTY}",
        "img-src 'self' data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Headers of every answer."""
NAMES = ("127.0.0.1", "localhost", "[::1]")


def hosts(port: int) -> set[str]:
    """Return the values of `Host` that name this server.

    >>> sorted(hosts(8410))
    ['127.0.0.1:8410', '[::1]:8410', 'localhost:8410']
    """
    return {f"{name}:{port}" for name in NAMES} | (set(NAMES) if port == 80 else set())


def refusal(headers: Message, port: int) -> tuple[int, str] | None:
    """Return status and reason if any request with these headers is refused."""
    for name in ("Host", "Content-Length"):
        if len(headers.get_all(name, [])) > 1:
            return 400, f"the request has two headers {name}"
    if headers.get("Host", "").lower() not in hosts(port):
        return 403, "the header Host does not name this server: open the address that `ackclock serve` printed"
    # A link to the page may be anywhere. To load it as anything else would only open sessions without a reader.
    if headers.get("Sec-Fetch-Site") == "cross-site" and headers.get("Sec-Fetch-Mode") != "navigate":
        return 403, "the request comes from another site"
    return None


def refusal_of_post(headers: Message, port: int) -> tuple[int, str] | None:
    """Return status and reason if a request to the engine with these headers is refused."""
    origin, site = headers.get("Origin"), headers.get("Sec-Fetch-Site")
    if origin is not None and origin.lower() not in {f"http://{host}" for host in hosts(port)}:
        return 403, "the request comes from another site"
    if site is not None and site != "same-origin":
        return 403, "the request comes from another site"
    if headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
        return 415, "the request must have the Content-Type application/json"
    if headers.get("Transfer-Encoding") is not None:
        return 411, "the request must have a Content-Length"
    length = headers.get("Content-Length", "")
    if not (length.isascii() and length.isdigit()):
        return 411, "the request must have a Content-Length"
    if int(length[:20]) > LARGEST_REQUEST:
        return 413, f"the request is larger than {LARGEST_REQUEST / 1e6:g} MB"
    return None
