// RUN: tile-opt %s -p nest-prefetch --split-input-file | filecheck %s
// RUN: tile-opt %s -p nest-prefetch,nest-to-gpu --split-input-file | filecheck %s --check-prefix=GPU
// RUN: tile-opt %s -p nest-prefetch,nest-to-gpu --split-input-file -t opencl | filecheck %s --check-prefix=OPENCL

// The pass that computes most asks for what the next row reads first, and for what the later passes
// over its own row read, and write to arrays that no cache holds.
// CHECK:      nest.for %r : serial to 8 {
// CHECK:        nest.for %i : serial to 32 {
// CHECK-NOT:      nest.prefetch
// CHECK:        nest.for %j : serial to 32 {
// CHECK:          math.exp
// CHECK:          nest.prefetch %X[8*%g + %r + 1, 16*%j] : memref<16x512xf32, 1 : i32>
// CHECK-NEXT:     nest.prefetch %Z[8*%g + %r, 16*%j] : memref<16x512xf32, 1 : i32>
// CHECK-NEXT:     nest.prefetch to_write %Y[8*%g + %r, 16*%j] : memref<16384x512xf32, 1 : i32>
// CHECK-NEXT:   }
// CHECK:        nest.for %k : serial to 32 {
// CHECK-NOT:      nest.prefetch
// GPU:        memref.prefetch %{{.*}}[%{{.*}}], read, locality<3>, data : memref<8192xf32, 1 : i32>
// GPU:        memref.prefetch %{{.*}}[%{{.*}}], write, locality<3>, data
// OPENCL:     __builtin_prefetch(X + v_{{[0-9]}} + 512, 0);
// OPENCL:     __builtin_prefetch(Z + v_{{[0-9]}}, 0);
// OPENCL:     __builtin_prefetch(Y + v_{{[0-9]}}, 1);
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<16x512xf32, 1 : i32>, memref<512xf32, 1 : i32>, memref<16x512xf32, 1 : i32>, memref<16384x512xf32, 1 : i32>, memref<16x512xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<16x512xf32, 1 : i32>, %W: memref<512xf32, 1 : i32>, %Z: memref<16x512xf32, 1 : i32>, %Y: memref<16384x512xf32, 1 : i32>, %V: memref<16x512xf32, 1 : i32>):
    nest.for %g : group.x to 2 {
      nest.for %r : serial to 8 {
        %s = nest.buffer : memref<16xf32, 5 : i32>
        nest.for %i : serial to 32 {
          %x = nest.load %X[8*%g + %r, 16*%i] : memref<16x512xf32, 1 : i32>, vector<16xf32>
          nest.store %x, %s[0] : vector<16xf32>, memref<16xf32, 5 : i32>
        }
        nest.for %j : serial to 32 {
          %x = nest.load %X[8*%g + %r, 16*%j] : memref<16x512xf32, 1 : i32>, vector<16xf32>
          %w = nest.load %W[16*%j] : memref<512xf32, 1 : i32>, vector<16xf32>
          %e = math.exp %x : vector<16xf32>
          %y = arith.mulf %e, %w : vector<16xf32>
          nest.store %y, %s[0] : vector<16xf32>, memref<16xf32, 5 : i32>
        }
        nest.for %k : serial to 32 {
          %z = nest.load %Z[8*%g + %r, 16*%k] : memref<16x512xf32, 1 : i32>, vector<16xf32>
          %t = nest.load %s[0] : memref<16xf32, 5 : i32>, vector<16xf32>
          %y = arith.mulf %z, %t : vector<16xf32>
          nest.store %y, %Y[8*%g + %r, 16*%k] : vector<16xf32>, memref<16384x512xf32, 1 : i32>
          nest.store %y, %V[8*%g + %r, 16*%k] : vector<16xf32>, memref<16x512xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "rows"} : () -> ()
}) : () -> ()

// -----

// Not where rows are short, accessed element by element or under conditions, or too long for the
// cache; nor loops of other lengths.
// CHECK-LABEL: sym_name = "left"
// CHECK-NOT:   nest.prefetch
// OPENCL-LABEL: void left
// OPENCL-NOT:   __builtin_prefetch
"gpu.module"() <{sym_name = "left"}> ({
  "gpu.func"() <{function_type = (memref<16x4000000xf32, 1 : i32>, memref<16x4000000xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<16x4000000xf32, 1 : i32>, %Y: memref<16x4000000xf32, 1 : i32>):
    nest.for %r : serial to 16 {
      nest.for %i : serial to 15 {
        %x = nest.load %X[%r, 16*%i] : memref<16x4000000xf32, 1 : i32>, vector<16xf32>
      }
      nest.for %j : serial to 15 {
        %x = nest.load %X[%r, 16*%j] : memref<16x4000000xf32, 1 : i32>, vector<16xf32>
        nest.store %x, %Y[%r, 16*%j] : vector<16xf32>, memref<16x4000000xf32, 1 : i32>
      }
    }
    nest.for %r : serial to 16 {
      nest.for %i : serial to 250000 {
        %x = nest.load %X[%r, 16*%i] : memref<16x4000000xf32, 1 : i32>, vector<16xf32>
      }
      nest.for %j : serial to 250000 {
        %x = nest.load %X[%r, 16*%j] : memref<16x4000000xf32, 1 : i32>, vector<16xf32>
        nest.store %x, %Y[%r, 16*%j] : vector<16xf32>, memref<16x4000000xf32, 1 : i32>
      }
    }
    nest.for %r : serial to 16 {
      nest.for %i : serial to 512 {
        %x = nest.load %X[%r, %i] : memref<16x4000000xf32, 1 : i32>
      }
      nest.for %j : serial to 512 {
        %x = nest.load %X[%r, 16*%j] if %r < 3 : memref<16x4000000xf32, 1 : i32>, vector<16xf32>
        nest.store %x, %Y[%r, 16*%j] if %r < 3 : vector<16xf32>, memref<16x4000000xf32, 1 : i32>
      }
      nest.for %k : serial to 256 {
        %x = nest.load %X[%r, 16*%k] : memref<16x4000000xf32, 1 : i32>, vector<16xf32>
        nest.store %x, %Y[%r, 16*%k] : vector<16xf32>, memref<16x4000000xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "left"} : () -> ()
}) : () -> ()
