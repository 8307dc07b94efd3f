// swift-tools-version: 6.2
import PackageDescription

// As `swift package init` makes it: with no settings, which decides what a user's closure is isolated to.
let package = Package(
    name: "Asynchronous",
    dependencies: [.package(name: "swift-uv-futures", path: "../../..")],
    targets: [
        .executableTarget(
            name: "AsyncEcho", dependencies: [.product(name: "UVFutures", package: "swift-uv-futures")])
    ]
)
