// swift-tools-version: 6.2
import PackageDescription

let ours: Target.Dependency = .product(name: "UVFutures", package: "swift-uv-futures")
let encrypted: Target.Dependency = .product(name: "TLSStreams", package: "swift-uv-futures")
let simulated: Target.Dependency = .product(name: "FuturesTesting", package: "swift-uv-futures")

// Ours. The peers have packages of their own, so that the guard resolves and builds none of them.
let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "swift-uv-futures", path: "../.."),
        .package(path: "Figures"),
    ],
    targets: [
        .executableTarget(name: "Echo", dependencies: [ours]),
        .executableTarget(name: "TLSEcho", dependencies: [ours, encrypted]),
        .executableTarget(name: "DatagramEcho", dependencies: [ours]),
        .executableTarget(name: "ProcessStarts", dependencies: [ours]),
        .executableTarget(name: "FileWork", dependencies: [ours]),
        .executableTarget(name: "LoopGroup", dependencies: [ours]),
        .executableTarget(name: "Micro", dependencies: [ours, simulated, "Figures"]),
        .executableTarget(name: "FlatMapLoop", dependencies: [ours]),
        .executableTarget(name: "GroupSizes", dependencies: [ours]),
    ]
)
