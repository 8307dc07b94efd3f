// A library that Neovim loads, on Neovim's own loop. lua/finder.lua makes commands of it.
//
// Lua reports errors with longjmp, which must not pass Swift's frames. So what is called here does not raise, and functions
// return nil and a message instead.
import CLua
import UVFutures

/// What the module holds until Neovim lets it go.
final class Plugin {
    /// What Lua calls by name.
    private enum Verb: Int, CaseIterable {
        case find, follow, stop, detach
    }

    /// A coroutine of the plugin's own, to call functions of Lua's with. The one that has called the plugin may wait for
    /// something, and cannot run anything then.
    private let lua: OpaquePointer
    private let loop: EventLoop
    private var jobs: [Int: Future<Void>] = [:]
    private var lastJob = 0

    private typealias LoopOf = @convention(c) (OpaquePointer) -> UnsafeMutableRawPointer
    private typealias VersionOf = @convention(c) () -> UnsafePointer<CChar>?

    /// Throws an error if this Neovim cannot be a host.
    init(_ lua: OpaquePointer) throws {
        self.lua = lua_newthread(lua)
        // It stays as long as Neovim, as this library does.
        luaL_ref(lua, LUA_REGISTRYINDEX)
        guard let loopOf = dlsym(nil, "luv_loop"), let version = dlsym(nil, "uv_version_string") else {
            throw FutureError.invalidArgument(
                "this Neovim does not export luv_loop; use a distribution's package")
        }
        loop = try EventLoop(
            attachingTo: unsafeBitCast(loopOf, to: LoopOf.self)(lua),
            hostVersion: unsafeBitCast(version, to: VersionOf.self))
    }

    /// Pushes a table of the functions.
    func pushFunctions(on lua: OpaquePointer) {
        let plugin = Unmanaged.passRetained(self).toOpaque()
        lua_createtable(lua, 0, CInt(Verb.allCases.count))
        for verb in Verb.allCases {
            lua_pushlightuserdata(lua, plugin)
            lua_pushinteger(lua, verb.rawValue)
            lua_pushcclosure(
                lua,
                { lua in
                    let plugin = Unmanaged<Plugin>.fromOpaque(lua_touserdata(lua, upvalue_index(1)))
                    let verb = Verb(rawValue: lua_tointeger(lua, upvalue_index(2)))!
                    guard verb == .detach else { return plugin.takeUnretainedValue().call(verb, from: lua!) }
                    return plugin.takeRetainedValue().call(verb, from: lua!)
                }, 2)
            lua_setfield(lua, -2, "\(verb)")
        }
    }

    private func call(_ verb: Verb, from caller: OpaquePointer) -> CInt {
        let arguments = LuaArguments(caller, callingBackOn: lua)
        do {
            switch verb {
            case .find: lua_pushinteger(caller, try find(arguments))
            case .follow: lua_pushinteger(caller, try follow(arguments))
            case .stop: jobs[try arguments.integer(1)]?.cancel()
            case .detach:
                let done = try arguments.function(1)
                loop.detach().whenSuccess { try? done.call() }
            }
            return verb == .find || verb == .follow ? 1 : 0
        } catch {
            return caller.refuse(error)
        }
    }

    /// `find(directory, text, limit, matches, done) -> job`: calls `matches` with a list of `{ path, line, text }` for each
    /// file that has the text, and `done` at the end.
    private func find(_ arguments: LuaArguments) throws -> Int {
        let search = Search(text: try arguments.string(2), limit: try arguments.integer(3))
        let (directory, matches) = (try arguments.string(1), try arguments.function(4))
        let job = search.run(below: directory, on: loop) { found in
            try matches.call { lua in
                lua_createtable(lua, CInt(found.count), 0)
                for (index, match) in found.enumerated() {
                    lua_createtable(lua, 3, 0)
                    lua.setElement(1, match.path)
                    lua_pushinteger(lua, match.line)
                    lua_rawseti(lua, -2, 2)
                    lua.setElement(3, match.text)
                    lua_rawseti(lua, -2, CInt(index + 1))
                }
            }
        }
        return add(job, done: try arguments.function(5))
    }

    /// `follow(path, line, done) -> job`: calls `line` with each line that the file has or gets, and `done` at the end.
    private func follow(_ arguments: LuaArguments) throws -> Int {
        let (path, tell) = (try arguments.string(1), try arguments.function(2))
        let job = Future(on: loop) { [loop] in
            let stream = try await File.follow(path, from: .beginning, on: loop).value
            for try await line in stream.lines() { try tell.call { lua in lua.push(line) } }
        }
        return add(job, done: try arguments.function(3))
    }

    /// Remembers a job until it ends, and tells Lua of its end: without an argument, or with the reason.
    private func add(_ job: Future<Void>, done: LuaFunction) -> Int {
        lastJob += 1
        let number = lastJob
        jobs[number] = job
        job.whenComplete { [self] result in
            jobs[number] = nil
            var reason: String?
            if case .failure(let error) = result, !(error is CancellationError) { reason = "\(error)" }
            // What Lua does wrong here, nobody else can be told.
            try? done.call { lua in if let reason { lua.push(reason) } else { lua_pushnil(lua) } }
        }
        return number
    }
}

/// Makes the module, or returns nil and a message.
@c(luaopen_finder) public func open(_ lua: OpaquePointer) -> CInt {
    do {
        try Plugin(lua).pushFunctions(on: lua)
        return 1
    } catch {
        return lua.refuse(error)
    }
}
