module delay-server

go 1.21
