"""An ASGI application that answers every request with its path, for hypercorn."""


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ('{"path":"%s"}' % scope["path"]).encode()})
