// The same echo server in Go, a goroutine for each connection, on one thread at a time.
// Usage: echo [--lines]
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"runtime"
)

func echo(connection net.Conn) {
	defer connection.Close()
	buffer := make([]byte, 65536)
	for {
		count, err := connection.Read(buffer)
		if err != nil {
			return
		}
		if _, err := connection.Write(buffer[:count]); err != nil {
			return
		}
	}
}

func echoLines(connection net.Conn) {
	defer connection.Close()
	reader := bufio.NewReaderSize(connection, 65536)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		if _, err := connection.Write(line); err != nil {
			return
		}
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	serve := echo
	if len(os.Args) > 1 && os.Args[1] == "--lines" {
		serve = echoLines
	}
	// Go asks for the largest backlog that the system allows.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", listener.Addr())
	for {
		connection, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(connection)
	}
}
