-- A Swift library that serves TCP on the loop of lua-luv. usage: lua host.lua MODULE

-- With its symbols visible, since the module calls luv_loop.
assert(package.loadlib(assert(package.searchpath("luv", package.cpath)), "*"))
local uv = require "luv"
local swift = assert(package.loadlib(arg[1], "luaopen_swift_echo"))()

local library = swift.attach()
local received, times, detached = "", {}, false

local function finish()
  if received == "hello from Lua" and #times == 3 then
    swift.detach(library, function() detached = true end)
  end
end

local client = uv.new_tcp()
client:connect("127.0.0.1", swift.port(library), function(failure)
  assert(not failure, failure)
  client:read_start(function(failure, data)
    assert(not failure, failure)
    received = received .. (data or "")
    if received == "hello from Lua" then
      client:close()
      finish()
    end
  end)
  client:write("hello from Lua")
end)

swift.on_call(function(milliseconds)
  table.insert(times, milliseconds)
  finish()
end)
for _, milliseconds in ipairs { 15, 5, 10 } do swift.call_later(library, milliseconds) end

uv.run()
assert(table.concat(times, " ") == "5 10 15", table.concat(times, " "))
assert(detached, "the library has not detached")
assert(not uv.loop_alive(), "something is left on the loop")
print("Lua: passed")
