// swift-tools-version: 6.2
import PackageDescription

// Ours. The peers have packages of their own, so that the guard resolves and builds none of them.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "swift-uv-futures", path: "../..")],
    targets: [
        .executableTarget(
            name: "Echo",
            dependencies: [.product(name: "UVFutures", package: "swift-uv-futures")]
        ),
        .executableTarget(
            name: "MapChain",
            dependencies: [.product(name: "UVFutures", package: "swift-uv-futures")]
        ),
        .executableTarget(
            name: "FlatMapLoop",
            dependencies: [.product(name: "UVFutures", package: "swift-uv-futures")]
        ),
        .executableTarget(
            name: "GroupSizes",
            dependencies: [.product(name: "UVFutures", package: "swift-uv-futures")]
        ),
    ]
)
