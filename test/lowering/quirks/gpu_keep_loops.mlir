// RUN: tile-opt %s -p gpu-keep-loops | filecheck %s
// RUN: tile-opt %s -p gpu-keep-loops -t opencl | filecheck %s --check-prefix=OPENCL

// Innermost loops with a branch are kept, and loops around loops but for those with arrays in private
// memory; others and short ones may be unrolled.
// CHECK:      scf.for %outer
// CHECK:        scf.for %kept
// CHECK:          scf.if
// CHECK:        } {tile.keep_loop}
// CHECK-NEXT: } {tile.keep_loop}
// CHECK-NEXT: scf.for %with_registers
// CHECK:          memref.store
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: scf.for %short_outer
// CHECK:          memref.store
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: scf.for %short
// CHECK-NOT:  tile.keep_loop
// CHECK:      scf.for %plain
// CHECK-NEXT:   memref.store
// CHECK-NEXT: }
// Innermost loops that call functions on scalars, or divide integers, are not vectorized.
// CHECK-NEXT: scf.for %calls
// CHECK:      } {tile.keep_scalars}
// CHECK-NEXT: scf.for %divides
// CHECK:      } {tile.keep_scalars}
// CHECK-NEXT: scf.for %in_vectors
// Those that write rows of a few numbers one by one are not unrolled.
// CHECK:      scf.for %rows
// CHECK:      } {tile.keep_loop}
// Those that test for their last iteration alone may be unrolled, and are not vectorized.
// CHECK:      scf.for %last_apart
// CHECK:      } {tile.keep_scalars}
// CHECK:      "gpu.return"

// OPENCL:      #pragma unroll 1
// OPENCL-NEXT: for (int outer = 0; outer < 32; ++outer) {
// OPENCL-NEXT:     bool c = outer < x;
// OPENCL-NEXT:     #pragma unroll 1
// OPENCL-NEXT:     for (int kept = 0; kept < 32; ++kept) {
// OPENCL:      for (int short
// OPENCL:      for (int plain
// OPENCL:      #pragma clang loop vectorize(disable)
// OPENCL-NEXT: for (int calls
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (memref<32xf32, 1 : i32>, index) -> (), kernel}> ({
  ^bb0(%a: memref<32xf32, 1 : i32>, %x: index):
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %many = arith.constant 32 : index
    %f = arith.constant 1.0 : f32
    %r = memref.alloca() : memref<32xf32, 5 : i32>
    scf.for %outer = %zero to %many step %one {
      %c = arith.cmpi slt, %outer, %x : index
      scf.for %kept = %zero to %many step %one {
        scf.if %c {
          memref.store %f, %a[%kept] : memref<32xf32, 1 : i32>
        }
      }
    }
    scf.for %with_registers = %zero to %many step %one {
      scf.for %inner = %zero to %many step %one {
        memref.store %f, %r[%inner] : memref<32xf32, 5 : i32>
      }
    }
    scf.for %short_outer = %zero to %four step %one {
      scf.for %inner = %zero to %four step %one {
        memref.store %f, %a[%inner] : memref<32xf32, 1 : i32>
      }
    }
    scf.for %short = %zero to %four step %one {
      %c = arith.cmpi slt, %short, %x : index
      scf.if %c {
        memref.store %f, %a[%short] : memref<32xf32, 1 : i32>
      }
    }
    scf.for %plain = %zero to %many step %one {
      memref.store %f, %a[%plain] : memref<32xf32, 1 : i32>
    }
    scf.for %calls = %zero to %many step %one {
      %loaded = memref.load %a[%calls] : memref<32xf32, 1 : i32>
      %sine = math.sin %loaded : f32
      memref.store %sine, %a[%calls] : memref<32xf32, 1 : i32>
    }
    scf.for %divides = %zero to %many step %one {
      %quotient = arith.divui %divides, %x : index
      memref.store %f, %a[%quotient] : memref<32xf32, 1 : i32>
    }
    scf.for %in_vectors = %zero to %many step %four {
      %loaded = vector.load %a[%in_vectors] : memref<32xf32, 1 : i32>, vector<4xf32>
      %sine = math.sin %loaded : vector<4xf32>
      vector.store %sine, %a[%in_vectors] : memref<32xf32, 1 : i32>, vector<4xf32>
    }
    scf.for %rows = %zero to %many step %four {
      %beside = arith.addi %rows, %one : index
      memref.store %f, %a[%rows] : memref<32xf32, 1 : i32>
      memref.store %f, %a[%beside] : memref<32xf32, 1 : i32>
    }
    %before = arith.constant 31 : index
    scf.for %last_apart = %zero to %many step %one {
      %c = arith.cmpi slt, %last_apart, %before : index
      scf.if %c {
        memref.store %f, %a[%last_apart] : memref<32xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "k"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()
