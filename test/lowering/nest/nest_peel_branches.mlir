// RUN: tile-opt %s -p 'nest-peel{branches=false}' | filecheck %s
// RUN: tile-opt %s -p nest-peel | filecheck %s --check-prefix BOTH

// A test that all lanes agree on, and that says whether much is done, stays: 4096 and more
// operations. Of the test of less there is an interior without it.
// CHECK:      nest.for %y : group.x to 64 {
// CHECK-NEXT:   nest.for %j : serial to 3 {
// CHECK-NEXT:     nest.if 1 <= %j + %y {
// CHECK-NEXT:       nest.for %k : serial to 2048 {
// CHECK:      nest.for %y : group.x to 64 {
// CHECK-NEXT:   nest.if 1 <= %y {
// CHECK-NEXT:     nest.for %j : serial to 3 {
// CHECK-NEXT:       nest.for %k : serial to 16 {

// BOTH:      nest.for %y : group.x to 64 {
// BOTH-NEXT:   nest.if 1 <= %y {
// BOTH-NEXT:     nest.for %j : serial to 3 {
// BOTH-NEXT:       nest.for %k : serial to 2048 {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<66x4096xf32, 1 : i32>, memref<4096xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<66x4096xf32, 1 : i32>, %B: memref<4096xf32, 1 : i32>):
    nest.for %y : group.x to 64 {
      nest.for %j : serial to 3 {
        nest.if 1 <= %j + %y {
          nest.for %k : serial to 2048 {
            %a = nest.load %A[%y + %j, %k] : memref<66x4096xf32, 1 : i32>
            nest.store %a, %B[%k] : f32, memref<4096xf32, 1 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "much"} : () -> ()
  "gpu.func"() <{function_type = (memref<66x4096xf32, 1 : i32>, memref<4096xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<66x4096xf32, 1 : i32>, %B: memref<4096xf32, 1 : i32>):
    nest.for %y : group.x to 64 {
      nest.for %j : serial to 3 {
        nest.if 1 <= %j + %y {
          nest.for %k : serial to 16 {
            %a = nest.load %A[%y + %j, %k] : memref<66x4096xf32, 1 : i32>
            nest.store %a, %B[%k] : f32, memref<4096xf32, 1 : i32>
          }
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "little"} : () -> ()
}) : () -> ()
