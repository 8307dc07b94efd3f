// swift-tools-version: 6.2
import PackageDescription

let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
]

let package = Package(
    name: "SwiftNIOPeers",
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(path: "../../Figures"),
    ],
    targets: [
        .executableTarget(name: "NIOEcho", dependencies: nio),
        .executableTarget(
            name: "NIOWeb", dependencies: nio + [.product(name: "NIOHTTP1", package: "swift-nio")]),
        .executableTarget(
            name: "NIOTLSEcho", dependencies: nio + [.product(name: "NIOSSL", package: "swift-nio-ssl")]),
        .executableTarget(name: "NIOAsyncEcho", dependencies: nio),
        .executableTarget(name: "NIOMicro", dependencies: nio + ["Figures"]),
    ]
)
