// swift-tools-version: 6.2
import PackageDescription

// A package of its own, since it needs the headers of LuaJIT: apt-get install libluajit-5.1-dev
let package = Package(
    name: "NeovimPlugin",
    products: [.library(name: "NeovimPlugin", type: .dynamic, targets: ["NeovimPlugin"])],
    dependencies: [.package(name: "swift-uv-futures", path: "../..")],
    targets: [
        .systemLibrary(name: "CLua"),
        .target(
            name: "NeovimPlugin",
            dependencies: ["CLua", .product(name: "UVFutures", package: "swift-uv-futures")],
            swiftSettings: [.unsafeFlags(["-Xcc", "-idirafter/usr/include/luajit-2.1"])],
            // The functions of Lua are Neovim's own. Lua unloads libraries at its end, and Swift cannot be unloaded.
            linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "nodelete"])]),
    ]
)
