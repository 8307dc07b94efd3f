// swift-tools-version: 6.2
import PackageDescription

// A package of its own, since it needs Node's headers: swift build -Xcc -idirafter$PREFIX/include/node
let package = Package(
    name: "NodeAddon",
    products: [.library(name: "NodeAddon", type: .dynamic, targets: ["NodeAddon"])],
    dependencies: [.package(name: "swift-uv-futures", path: "../..")],
    targets: [
        .systemLibrary(name: "CNode"),
        .target(
            name: "NodeAddon",
            dependencies: ["CNode", .product(name: "UVFutures", package: "swift-uv-futures")],
            // Node unloads at its end what only a worker has loaded, and Swift cannot be unloaded.
            linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "nodelete"])]),
    ]
)
