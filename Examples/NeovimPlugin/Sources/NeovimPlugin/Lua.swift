// Values of Lua's, as far as the plugin has them.
import CLua
import FoundationEssentials
import UVFutures

extension OpaquePointer {
    func push(_ bytes: Data) {
        bytes.withUnsafeBytes { lua_pushlstring(self, $0.baseAddress, $0.count) }
    }

    func push(_ string: String) { push(Data(string.utf8)) }

    /// Returns nil and a message to Lua.
    func refuse(_ error: any Error) -> CInt {
        lua_pushnil(self)
        push("\(error)")
        return 2
    }

    /// Sets an element of the list on top of the stack.
    func setElement(_ index: CInt, _ bytes: Data) {
        push(bytes)
        lua_rawseti(self, -2, index)
    }
}

/// The arguments of a call.
struct LuaArguments {
    private let lua: OpaquePointer
    private let coroutine: OpaquePointer

    /// `coroutine` is the one that functions among the arguments are to be called on.
    init(_ lua: OpaquePointer, callingBackOn coroutine: OpaquePointer) {
        (self.lua, self.coroutine) = (lua, coroutine)
    }

    func string(_ number: CInt) throws -> String {
        var count = 0
        guard lua_type(lua, number) == LUA_TSTRING, let bytes = lua_tolstring(lua, number, &count) else {
            throw wrong(number, "a string")
        }
        return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func integer(_ number: CInt) throws -> Int {
        guard lua_type(lua, number) == LUA_TNUMBER else { throw wrong(number, "a number") }
        return lua_tointeger(lua, number)
    }

    func function(_ number: CInt) throws -> LuaFunction {
        guard lua_type(lua, number) == LUA_TFUNCTION else { throw wrong(number, "a function") }
        lua_pushvalue(lua, number)
        return LuaFunction(on: coroutine, luaL_ref(lua, LUA_REGISTRYINDEX))
    }

    private func wrong(_ number: CInt, _ kind: String) -> FutureError {
        let found = String(cString: lua_typename(lua, lua_type(lua, number)))
        return .invalidArgument("argument \(number) is a value of type \(found); give \(kind)")
    }
}

/// A function of Lua's, which Lua keeps as long as this object is there.
final class LuaFunction {
    private let lua: OpaquePointer
    private let function: CInt

    init(on lua: OpaquePointer, _ function: CInt) { (self.lua, self.function) = (lua, function) }

    deinit { luaL_unref(lua, LUA_REGISTRYINDEX, function) }

    /// Calls the function with the value that `push` pushes. Throws its error.
    func call(_ push: ((OpaquePointer) -> Void)? = nil) throws {
        lua_rawgeti(lua, LUA_REGISTRYINDEX, function)
        push?(lua)
        guard lua_pcall(lua, push == nil ? 0 : 1, 0, 0) != 0 else { return }
        let message = lua_tolstring(lua, -1, nil).map { String(cString: $0) } ?? "an error without a text"
        lua_settop(lua, -2)
        throw FutureError.invalidArgument("a function of Lua's has failed: \(message)")
    }
}
