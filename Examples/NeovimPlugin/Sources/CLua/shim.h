#pragma once
#include <lauxlib.h>
#include <lua.h>

/// `dlsym` with `RTLD_DEFAULT`, which Swift does not import: the host's own function, since the host comes first.
void *dlsym(void *library, const char *name);

/// What Swift does not import, since it is a macro with arguments.
static inline int upvalue_index(int number) { return lua_upvalueindex(number); }
