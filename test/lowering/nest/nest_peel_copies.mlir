// RUN: tile-opt %s -p 'nest-peel{copies=false}' | filecheck %s
// RUN: tile-opt %s -p nest-peel | filecheck %s --check-prefix BOTH

// A test that a copy alone makes stays, as the copy waits for memory meanwhile.
// CHECK:      nest.for %k : serial to 7 {
// CHECK-NEXT:   %tile = nest.buffer : memref<16xf32, 3 : i32>
// CHECK-NEXT:   nest.load %A[16*%k + %i] if 16*%k + %i < 100 : memref<100xf32, 1 : i32>
// CHECK-NOT:  nest.for

// BOTH:      nest.for %k : serial to 6 {
// BOTH:      nest.for %k_{{[0-9]+}} = 6 to 7 : serial {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<100xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<100xf32, 1 : i32>):
    nest.for %i : local.x to 16 {
      nest.for %k : serial to 7 {
        %tile = nest.buffer : memref<16xf32, 3 : i32>
        %a = nest.load %A[%i + 16*%k] if %i + 16*%k < 100 : memref<100xf32, 1 : i32>
        nest.store %a, %tile[%i] : f32, memref<16xf32, 3 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
