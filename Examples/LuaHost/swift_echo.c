// Makes the Swift library a Lua module, on the loop of lua-luv.

#include "../Sources/CHost/echo_library.h"
#include <lauxlib.h>
#include <lua.h>

// Of lua-luv, which has to be loaded with its symbols visible.
uv_loop_t *luv_loop(lua_State *L);

static lua_State *state;
static int on_time = LUA_NOREF;

static echo_library *library_of(lua_State *L) {
    luaL_checktype(L, 1, LUA_TLIGHTUSERDATA);
    return lua_touserdata(L, 1);
}

static int attach(lua_State *L) {
    char message[1024];
    state = L;
    echo_library *library = echo_attach(luv_loop(L), uv_version_string, message, sizeof message);
    if (!library) return luaL_error(L, "%s", message);
    lua_pushlightuserdata(L, library);
    return 1;
}

static int port(lua_State *L) {
    lua_pushinteger(L, echo_port(library_of(L)));
    return 1;
}

static void call(int milliseconds) {
    lua_rawgeti(state, LUA_REGISTRYINDEX, on_time);
    lua_pushinteger(state, milliseconds);
    lua_call(state, 1, 0);
}

// call_later(library, milliseconds): the function given to on_call is called with the time
static int call_later(lua_State *L) {
    echo_call_later(library_of(L), luaL_checkinteger(L, 2), call);
    return 0;
}

static int on_call(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    luaL_unref(L, LUA_REGISTRYINDEX, on_time);
    lua_settop(L, 1);
    on_time = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

static void detached(void *data) {
    int function = (int)(intptr_t)data;
    lua_rawgeti(state, LUA_REGISTRYINDEX, function);
    luaL_unref(state, LUA_REGISTRYINDEX, function);
    lua_call(state, 0, 0);
}

// detach(library, function): calls the function when nothing is left on the loop
static int detach(lua_State *L) {
    echo_library *library = library_of(L);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    echo_detach(library, detached, (void *)(intptr_t)luaL_ref(L, LUA_REGISTRYINDEX));
    return 0;
}

int luaopen_swift_echo(lua_State *L) {
    static const luaL_Reg functions[] = {{"attach", attach}, {"port", port}, {"call_later", call_later},
        {"on_call", on_call}, {"detach", detach}, {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
