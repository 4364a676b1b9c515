// RUN: tile-opt %s -p nest-barriers --split-input-file | filecheck %s

// A barrier before a read of what others have written.
// CHECK:      nest.for %i : local.x to 64 {
// CHECK-NEXT:   %t = nest.buffer : memref<64xf32, 3 : i32>
// CHECK-NEXT:   %a = nest.load %A[%i] : memref<64xf32, 1 : i32>
// CHECK-NEXT:   nest.store %a, %t[%i] : f32, memref<64xf32, 3 : i32>
// CHECK-NEXT:   "gpu.barrier"() : () -> ()
// CHECK-NEXT:   %b = nest.load %t[-%i + 63] : memref<64xf32, 3 : i32>
// CHECK-NEXT:   nest.store %b, %A[%i] : f32, memref<64xf32, 1 : i32>
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 64 {
      %t = nest.buffer : memref<64xf32, 3 : i32>
      %a = nest.load %A[%i] : memref<64xf32, 1 : i32>
      nest.store %a, %t[%i] : f32, memref<64xf32, 3 : i32>
      %b = nest.load %t[63 - %i] : memref<64xf32, 3 : i32>
      nest.store %b, %A[%i] : f32, memref<64xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// And one before it is written again, in the next step of a loop.
// CHECK:      nest.for %i : local.x to 64 {
// CHECK-NEXT:   %t = nest.buffer : memref<64xf32, 3 : i32>
// CHECK-NEXT:   nest.for %k : serial to 4 {
// CHECK-NEXT:     %a = nest.load %A[%i] : memref<64xf32, 1 : i32>
// CHECK-NEXT:     "gpu.barrier"() : () -> ()
// CHECK-NEXT:     nest.store %a, %t[%i] : f32, memref<64xf32, 3 : i32>
// CHECK-NEXT:     "gpu.barrier"() : () -> ()
// CHECK-NEXT:     %b = nest.load %t[-%i + 63] : memref<64xf32, 3 : i32>
// CHECK-NEXT:     nest.store %b, %A[%i] : f32, memref<64xf32, 1 : i32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 64 {
      %t = nest.buffer : memref<64xf32, 3 : i32>
      nest.for %k : serial to 4 {
        %a = nest.load %A[%i] : memref<64xf32, 1 : i32>
        nest.store %a, %t[%i] : f32, memref<64xf32, 3 : i32>
        %b = nest.load %t[63 - %i] : memref<64xf32, 3 : i32>
        nest.store %b, %A[%i] : f32, memref<64xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Private memory needs none, and neither does a work-item by itself.
// CHECK:      nest.for %i : local.x to 64 {
// CHECK-NEXT:   %t = nest.buffer : memref<1xf32, 5 : i32>
// CHECK-NEXT:   %a = nest.load %A[%i] : memref<64xf32, 1 : i32>
// CHECK-NEXT:   nest.store %a, %t[0] : f32, memref<1xf32, 5 : i32>
// CHECK-NEXT:   %b = nest.load %t[0] : memref<1xf32, 5 : i32>
// CHECK-NEXT:   nest.store %b, %A[%i] : f32, memref<64xf32, 1 : i32>
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 64 {
      %t = nest.buffer : memref<1xf32, 5 : i32>
      %a = nest.load %A[%i] : memref<64xf32, 1 : i32>
      nest.store %a, %t[0] : f32, memref<1xf32, 5 : i32>
      %b = nest.load %t[0] : memref<1xf32, 5 : i32>
      nest.store %b, %A[%i] : f32, memref<64xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// A barrier in a loop that may have no step does not count after it: what is read before the loop is written after
// it, in the next step of the outer one.
// CHECK:        nest.for %k : serial to 4 {
// CHECK-NEXT:     %a = nest.load %A[%i] : memref<64xf32, 1 : i32>
// CHECK-NEXT:     "gpu.barrier"() : () -> ()
// CHECK-NEXT:     nest.store %a, %t[%i] : f32, memref<64xf32, 3 : i32>
// CHECK-NEXT:     "gpu.barrier"() : () -> ()
// CHECK-NEXT:     %b = nest.load %t[-%i + 63] : memref<64xf32, 3 : i32>
// CHECK-NEXT:     nest.for %j : serial to -%k + 2 {
// CHECK-NEXT:       "gpu.barrier"() : () -> ()
// CHECK-NEXT:       nest.store %b, %s[%i] : f32, memref<64xf32, 3 : i32>
// CHECK-NEXT:       "gpu.barrier"() : () -> ()
// CHECK-NEXT:       %c = nest.load %s[-%i + 63] : memref<64xf32, 3 : i32>
// CHECK:        nest.for %l : serial to 4 {
// CHECK-NEXT:     %a_1 = nest.load %A[%i] : memref<64xf32, 1 : i32>
// CHECK-NEXT:     nest.store %a_1, %t[%i] : f32, memref<64xf32, 3 : i32>
// CHECK-NEXT:     "gpu.barrier"() : () -> ()
// CHECK-NEXT:     %b_1 = nest.load %t[-%i + 63] : memref<64xf32, 3 : i32>
// CHECK-NEXT:     nest.for %m : serial to -%l + 5 {
// CHECK-NEXT:       "gpu.barrier"() : () -> ()
// CHECK-NEXT:       nest.store %b_1, %s[%i] : f32, memref<64xf32, 3 : i32>
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 64 {
      %t = nest.buffer : memref<64xf32, 3 : i32>
      %s = nest.buffer : memref<64xf32, 3 : i32>
      nest.for %k : serial to 4 {
        %a = nest.load %A[%i] : memref<64xf32, 1 : i32>
        nest.store %a, %t[%i] : f32, memref<64xf32, 3 : i32>
        %b = nest.load %t[63 - %i] : memref<64xf32, 3 : i32>
        nest.for %j : serial to 2 - %k {
          nest.store %b, %s[%i] : f32, memref<64xf32, 3 : i32>
          %c = nest.load %s[63 - %i] : memref<64xf32, 3 : i32>
          nest.store %c, %A[%i] : f32, memref<64xf32, 1 : i32>
        }
      }
      "gpu.barrier"() : () -> ()
      nest.for %l : serial to 4 {
        %a = nest.load %A[%i] : memref<64xf32, 1 : i32>
        nest.store %a, %t[%i] : f32, memref<64xf32, 3 : i32>
        %b = nest.load %t[63 - %i] : memref<64xf32, 3 : i32>
        nest.for %m : serial to 5 - %l {
          nest.store %b, %s[%i] : f32, memref<64xf32, 3 : i32>
          %c = nest.load %s[63 - %i] : memref<64xf32, 3 : i32>
          nest.store %c, %A[%i] : f32, memref<64xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
