import UVFutures

let loop = EventLoop.main
await Task.yield()
try loop.run()
