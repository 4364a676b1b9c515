// RUN: tile-opt %s -p nest-prefetch-streams | filecheck %s

builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<"type" = "cpu", "cache_sizes" = [1024, 2048, 65536]>>} {
  "gpu.module"() <{sym_name = "m"}> ({
    // What a loop reads from end to end is asked for 2048 bytes ahead, the first time; a row that all
    // have in common is not, nor what is small.
    // CHECK:      %x = nest.load %X[%r, 32*%i + 16*%u]
    // CHECK-NEXT: nest.prefetch %X[%r, 32*%i + 16*%u + 512] : memref<16x512xf32, 1 : i32>
    // CHECK-NEXT: nest.load %X
    // CHECK-NEXT: nest.load %B
    // CHECK-NEXT: nest.load %S
    // CHECK-NEXT: nest.store
    // CHECK:      sym_name = "rows"
    "gpu.func"() <{function_type = (memref<16x512xf32, 1 : i32>, memref<1024xf32, 1 : i32>, memref<16x16xf32, 1 : i32>, memref<16x512xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%X: memref<16x512xf32, 1 : i32>, %B: memref<1024xf32, 1 : i32>, %S: memref<16x16xf32, 1 : i32>, %Y: memref<16x512xf32, 1 : i32>):
      nest.for %r : serial to 16 {
        nest.for %i : serial to 16 {
          nest.for %u : unroll to 2 {
            %x = nest.load %X[%r, 32*%i + 16*%u] : memref<16x512xf32, 1 : i32>, vector<16xf32>
            %z = nest.load %X[%r, 32*%i + 16*%u] : memref<16x512xf32, 1 : i32>, vector<16xf32>
            %b = nest.load %B[32*%i + 16*%u] : memref<1024xf32, 1 : i32>, vector<16xf32>
            %s = nest.load %S[%r, 0] : memref<16x16xf32, 1 : i32>, vector<16xf32>
            nest.store %x, %Y[%r, 32*%i + 16*%u] : vector<16xf32>, memref<16x512xf32, 1 : i32>
          }
        }
      }
      "gpu.return"() : () -> ()
    }) {sym_name = "rows"} : () -> ()

    // Rows that are written out, one after another or far from one another, in any order.
    // CHECK:      nest.prefetch %X[4*%r + %k, 16*%u + 512]
    // CHECK:      nest.prefetch %Y[%{{.*}}, 16*%r + 512]
    // CHECK:      sym_name = "written_out"
    "gpu.func"() <{function_type = (memref<64x32xf32, 1 : i32>, memref<4x256xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%X: memref<64x32xf32, 1 : i32>, %Y: memref<4x256xf32, 1 : i32>):
      nest.for %r : serial to 16 {
        nest.for %u : unroll to 2 {
          nest.for %k : unroll to 4 {
            %x = nest.load %X[4*%r + %k, 16*%u] : memref<64x32xf32, 1 : i32>, vector<16xf32>
          }
        }
        nest.for %k : unroll to 4 {
          %y = nest.load %Y[%k, 16*%r] : memref<4x256xf32, 1 : i32>, vector<16xf32>
        }
      }
      "gpu.return"() : () -> ()
    }) {sym_name = "written_out"} : () -> ()

    // Not windows that overlap, gaps, single elements, loads under a condition, and outside of loops.
    // CHECK-NOT:  nest.prefetch
    // CHECK:      sym_name = "left"
    "gpu.func"() <{function_type = (memref<4096xf32, 1 : i32>, memref<4096xf32, 1 : i32>, memref<4096xf32, 1 : i32>, memref<4096xf32, 1 : i32>, memref<4096xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%A: memref<4096xf32, 1 : i32>, %B: memref<4096xf32, 1 : i32>, %C: memref<4096xf32, 1 : i32>, %D: memref<4096xf32, 1 : i32>, %E: memref<4096xf32, 1 : i32>):
      %e = nest.load %E[0] : memref<4096xf32, 1 : i32>, vector<16xf32>
      nest.for %i : serial to 100 {
        nest.for %u : unroll to 3 {
          %a = nest.load %A[16*%i + %u] : memref<4096xf32, 1 : i32>, vector<16xf32>
        }
        %b = nest.load %B[32*%i] : memref<4096xf32, 1 : i32>, vector<16xf32>
        %c = nest.load %C[%i] : memref<4096xf32, 1 : i32>
        %d = nest.load %D[16*%i] if %i < 7 : memref<4096xf32, 1 : i32>, vector<16xf32>
      }
      "gpu.return"() : () -> ()
    }) {sym_name = "left"} : () -> ()

    // Not what serves many sums.
    // CHECK-NOT:  nest.prefetch
    // CHECK:      sym_name = "product"
    "gpu.func"() <{function_type = (memref<4096xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%A: memref<4096xf32, 1 : i32>):
      %s = nest.buffer : memref<6x16xf32, 5 : i32>
      nest.for %k : serial to 256 {
        %a = nest.load %A[16*%k] : memref<4096xf32, 1 : i32>, vector<16xf32>
        nest.for %i : unroll to 6 {
          %old = nest.load %s[%i, 0] : memref<6x16xf32, 5 : i32>, vector<16xf32>
          %new = arith.addf %old, %a : vector<16xf32>
          nest.store %new, %s[%i, 0] : vector<16xf32>, memref<6x16xf32, 5 : i32>
        }
      }
      "gpu.return"() : () -> ()
    }) {sym_name = "product"} : () -> ()

    // Not where rows are asked for already.
    // CHECK:      nest.prefetch %A[16*%i + 7]
    // CHECK-NOT:  nest.prefetch
    // CHECK:      sym_name = "asks"
    "gpu.func"() <{function_type = (memref<4096xf32, 1 : i32>) -> (), kernel}> ({
    ^bb0(%A: memref<4096xf32, 1 : i32>):
      nest.for %i : serial to 100 {
        %a = nest.load %A[16*%i] : memref<4096xf32, 1 : i32>, vector<16xf32>
        nest.prefetch %A[16*%i + 7] : memref<4096xf32, 1 : i32>
      }
      "gpu.return"() : () -> ()
    }) {sym_name = "asks"} : () -> ()
  }) : () -> ()
}
