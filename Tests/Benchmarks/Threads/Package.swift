// swift-tools-version: 6.2
import PackageDescription

let both: [Target.Dependency] = [
    "Rounds",
    .product(name: "UVFutures", package: "swift-uv-futures"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
]

// Ours and SwiftNIO in one process, for rounds that take turns.
let package = Package(
    name: "ThreadBenchmarks",
    dependencies: [
        .package(name: "swift-uv-futures", path: "../../.."),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        .target(name: "Rounds"),
        .executableTarget(name: "Submissions", dependencies: both),
        .executableTarget(name: "Awaits", dependencies: both),
    ]
)
