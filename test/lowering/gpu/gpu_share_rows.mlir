// RUN: tile-opt %s -p gpu-share-rows --split-input-file | filecheck %s

// Each place of a window with stride 3 has three vectors; all three places need three, one after the other.
// CHECK:      "gpu.func"
// CHECK:      %a0 = vector.load %X[%i]
// CHECK:      %[[EIGHT:.*]] = arith.constant 8
// CHECK-NEXT: %[[P:.*]] = arith.addi %i, %[[EIGHT]]
// CHECK-NEXT: %a0_1 = vector.load %X[%[[P]]]
// CHECK:      %a0_2 = vector.load %X[%{{.*}}]
// CHECK-NOT:  vector.load
// CHECK:      %[[X:.*]] = vector.shuffle %a0, %a0_1 [0, 3, 6, 9, 12, 15, 0, 0]
// CHECK-NEXT: vector.shuffle %[[X]], %a0_2 [0, 1, 2, 3, 4, 5, 10, 13]
// CHECK:      %[[Y:.*]] = vector.shuffle %a0, %a0_1 [1, 4, 7, 10, 13, 0, 0, 0]
// CHECK-NEXT: vector.shuffle %[[Y]], %a0_2 [0, 1, 2, 3, 4, 8, 11, 14]
// CHECK:      %[[Z:.*]] = vector.shuffle %a0, %a0_1 [2, 5, 8, 11, 14, 0, 0, 0]
// CHECK-NEXT: vector.shuffle %[[Z]], %a0_2 [0, 1, 2, 3, 4, 9, 12, 15]
// CHECK-NOT:  vector.load
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<256xf64, 1 : i32>, memref<256xf64, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<256xf64, 1 : i32>, %O: memref<256xf64, 1 : i32>):
    %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
    %n8 = arith.constant 8 : index
    %p8 = arith.addi %i, %n8 : index
    %n14 = arith.constant 14 : index
    %p14 = arith.addi %i, %n14 : index
    %a0 = vector.load %X[%i] : memref<256xf64, 1 : i32>, vector<8xf64>
    %b0 = vector.load %X[%p8] : memref<256xf64, 1 : i32>, vector<8xf64>
    %d0 = vector.load %X[%p14] : memref<256xf64, 1 : i32>, vector<8xf64>
    %x0 = vector.shuffle %a0, %b0 [0, 3, 6, 9, 12, 15, 0, 0] : vector<8xf64>, vector<8xf64>
    %y0 = vector.shuffle %x0, %d0 [0, 1, 2, 3, 4, 5, 12, 15] : vector<8xf64>, vector<8xf64>
    vector.store %y0, %O[%i] : memref<256xf64, 1 : i32>, vector<8xf64>
    %n1 = arith.constant 1 : index
    %p1 = arith.addi %i, %n1 : index
    %n9 = arith.constant 9 : index
    %p9 = arith.addi %i, %n9 : index
    %n15 = arith.constant 15 : index
    %p15 = arith.addi %i, %n15 : index
    %a1 = vector.load %X[%p1] : memref<256xf64, 1 : i32>, vector<8xf64>
    %b1 = vector.load %X[%p9] : memref<256xf64, 1 : i32>, vector<8xf64>
    %d1 = vector.load %X[%p15] : memref<256xf64, 1 : i32>, vector<8xf64>
    %x1 = vector.shuffle %a1, %b1 [0, 3, 6, 9, 12, 15, 0, 0] : vector<8xf64>, vector<8xf64>
    %y1 = vector.shuffle %x1, %d1 [0, 1, 2, 3, 4, 5, 12, 15] : vector<8xf64>, vector<8xf64>
    vector.store %y1, %O[%p1] : memref<256xf64, 1 : i32>, vector<8xf64>
    %n2 = arith.constant 2 : index
    %p2 = arith.addi %i, %n2 : index
    %n10 = arith.constant 10 : index
    %p10 = arith.addi %i, %n10 : index
    %n16 = arith.constant 16 : index
    %p16 = arith.addi %i, %n16 : index
    %a2 = vector.load %X[%p2] : memref<256xf64, 1 : i32>, vector<8xf64>
    %b2 = vector.load %X[%p10] : memref<256xf64, 1 : i32>, vector<8xf64>
    %d2 = vector.load %X[%p16] : memref<256xf64, 1 : i32>, vector<8xf64>
    %x2 = vector.shuffle %a2, %b2 [0, 3, 6, 9, 12, 15, 0, 0] : vector<8xf64>, vector<8xf64>
    %y2 = vector.shuffle %x2, %d2 [0, 1, 2, 3, 4, 5, 12, 15] : vector<8xf64>, vector<8xf64>
    vector.store %y2, %O[%p2] : memref<256xf64, 1 : i32>, vector<8xf64>
    "gpu.return"() : () -> ()
  }) {sym_name = "windows"} : () -> ()
}) : () -> ()

// -----

// Of one place alone nothing is shared, nor between rows that are apart.
// CHECK:      "gpu.func"
// CHECK-COUNT-6: vector.load
// CHECK-NOT: vector.load
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<256xf64, 1 : i32>, memref<256xf64, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<256xf64, 1 : i32>, %O: memref<256xf64, 1 : i32>):
    %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
    %n0 = arith.constant 0 : index
    %p0 = arith.addi %i, %n0 : index
    %n8 = arith.constant 8 : index
    %p8 = arith.addi %i, %n8 : index
    %n14 = arith.constant 14 : index
    %p14 = arith.addi %i, %n14 : index
    %a0 = vector.load %X[%p0] : memref<256xf64, 1 : i32>, vector<8xf64>
    %b0 = vector.load %X[%p8] : memref<256xf64, 1 : i32>, vector<8xf64>
    %d0 = vector.load %X[%p14] : memref<256xf64, 1 : i32>, vector<8xf64>
    %x0 = vector.shuffle %a0, %b0 [0, 3, 6, 9, 12, 15, 0, 0] : vector<8xf64>, vector<8xf64>
    %y0 = vector.shuffle %x0, %d0 [0, 1, 2, 3, 4, 5, 12, 15] : vector<8xf64>, vector<8xf64>
    vector.store %y0, %O[%p0] : memref<256xf64, 1 : i32>, vector<8xf64>
    %n100 = arith.constant 100 : index
    %p100 = arith.addi %i, %n100 : index
    %n108 = arith.constant 108 : index
    %p108 = arith.addi %i, %n108 : index
    %n114 = arith.constant 114 : index
    %p114 = arith.addi %i, %n114 : index
    %a100 = vector.load %X[%p100] : memref<256xf64, 1 : i32>, vector<8xf64>
    %b100 = vector.load %X[%p108] : memref<256xf64, 1 : i32>, vector<8xf64>
    %d100 = vector.load %X[%p114] : memref<256xf64, 1 : i32>, vector<8xf64>
    %x100 = vector.shuffle %a100, %b100 [0, 3, 6, 9, 12, 15, 0, 0] : vector<8xf64>, vector<8xf64>
    %y100 = vector.shuffle %x100, %d100 [0, 1, 2, 3, 4, 5, 12, 15] : vector<8xf64>, vector<8xf64>
    vector.store %y100, %O[%p100] : memref<256xf64, 1 : i32>, vector<8xf64>
    "gpu.return"() : () -> ()
  }) {sym_name = "apart"} : () -> ()
}) : () -> ()

// -----

// What is written in between stays as it is.
// CHECK:      "gpu.func"
// CHECK-COUNT-9: vector.load
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<256xf64, 1 : i32>, memref<256xf64, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<256xf64, 1 : i32>, %O: memref<256xf64, 1 : i32>):
    %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
    %n0 = arith.constant 0 : index
    %p0 = arith.addi %i, %n0 : index
    %n8 = arith.constant 8 : index
    %p8 = arith.addi %i, %n8 : index
    %n14 = arith.constant 14 : index
    %p14 = arith.addi %i, %n14 : index
    %a0 = vector.load %X[%p0] : memref<256xf64, 1 : i32>, vector<8xf64>
    %b0 = vector.load %X[%p8] : memref<256xf64, 1 : i32>, vector<8xf64>
    %d0 = vector.load %X[%p14] : memref<256xf64, 1 : i32>, vector<8xf64>
    %x0 = vector.shuffle %a0, %b0 [0, 3, 6, 9, 12, 15, 0, 0] : vector<8xf64>, vector<8xf64>
    %y0 = vector.shuffle %x0, %d0 [0, 1, 2, 3, 4, 5, 12, 15] : vector<8xf64>, vector<8xf64>
    vector.store %y0, %X[%p0] : memref<256xf64, 1 : i32>, vector<8xf64>
    %n1 = arith.constant 1 : index
    %p1 = arith.addi %i, %n1 : index
    %n9 = arith.constant 9 : index
    %p9 = arith.addi %i, %n9 : index
    %n15 = arith.constant 15 : index
    %p15 = arith.addi %i, %n15 : index
    %a1 = vector.load %X[%p1] : memref<256xf64, 1 : i32>, vector<8xf64>
    %b1 = vector.load %X[%p9] : memref<256xf64, 1 : i32>, vector<8xf64>
    %d1 = vector.load %X[%p15] : memref<256xf64, 1 : i32>, vector<8xf64>
    %x1 = vector.shuffle %a1, %b1 [0, 3, 6, 9, 12, 15, 0, 0] : vector<8xf64>, vector<8xf64>
    %y1 = vector.shuffle %x1, %d1 [0, 1, 2, 3, 4, 5, 12, 15] : vector<8xf64>, vector<8xf64>
    vector.store %y1, %X[%p1] : memref<256xf64, 1 : i32>, vector<8xf64>
    %n2 = arith.constant 2 : index
    %p2 = arith.addi %i, %n2 : index
    %n10 = arith.constant 10 : index
    %p10 = arith.addi %i, %n10 : index
    %n16 = arith.constant 16 : index
    %p16 = arith.addi %i, %n16 : index
    %a2 = vector.load %X[%p2] : memref<256xf64, 1 : i32>, vector<8xf64>
    %b2 = vector.load %X[%p10] : memref<256xf64, 1 : i32>, vector<8xf64>
    %d2 = vector.load %X[%p16] : memref<256xf64, 1 : i32>, vector<8xf64>
    %x2 = vector.shuffle %a2, %b2 [0, 3, 6, 9, 12, 15, 0, 0] : vector<8xf64>, vector<8xf64>
    %y2 = vector.shuffle %x2, %d2 [0, 1, 2, 3, 4, 5, 12, 15] : vector<8xf64>, vector<8xf64>
    vector.store %y2, %X[%p2] : memref<256xf64, 1 : i32>, vector<8xf64>
    "gpu.return"() : () -> ()
  }) {sym_name = "written"} : () -> ()
}) : () -> ()

// -----

// Beside the sums of a loop there is no room for a row.
// CHECK:      "gpu.func"
// CHECK-COUNT-9: vector.load
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<256xf64, 1 : i32>, memref<256xf64, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<256xf64, 1 : i32>, %O: memref<256xf64, 1 : i32>):
    %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %z = arith.constant dense<0.0> : vector<8xf64>
    %r:27 = scf.for %k = %zero to %two step %one iter_args(%s0 = %z, %s1 = %z, %s2 = %z, %s3 = %z, %s4 = %z, %s5 = %z, %s6 = %z, %s7 = %z, %s8 = %z, %s9 = %z, %s10 = %z, %s11 = %z, %s12 = %z, %s13 = %z, %s14 = %z, %s15 = %z, %s16 = %z, %s17 = %z, %s18 = %z, %s19 = %z, %s20 = %z, %s21 = %z, %s22 = %z, %s23 = %z, %s24 = %z, %s25 = %z, %s26 = %z) -> (vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>) {
      %n0 = arith.constant 0 : index
      %p0 = arith.addi %i, %n0 : index
      %n8 = arith.constant 8 : index
      %p8 = arith.addi %i, %n8 : index
      %n14 = arith.constant 14 : index
      %p14 = arith.addi %i, %n14 : index
      %a0 = vector.load %X[%p0] : memref<256xf64, 1 : i32>, vector<8xf64>
      %b0 = vector.load %X[%p8] : memref<256xf64, 1 : i32>, vector<8xf64>
      %d0 = vector.load %X[%p14] : memref<256xf64, 1 : i32>, vector<8xf64>
      %x0 = vector.shuffle %a0, %b0 [0, 3, 6, 9, 12, 15, 0, 0] : vector<8xf64>, vector<8xf64>
      %y0 = vector.shuffle %x0, %d0 [0, 1, 2, 3, 4, 5, 12, 15] : vector<8xf64>, vector<8xf64>
      vector.store %y0, %O[%p0] : memref<256xf64, 1 : i32>, vector<8xf64>
      %n1 = arith.constant 1 : index
      %p1 = arith.addi %i, %n1 : index
      %n9 = arith.constant 9 : index
      %p9 = arith.addi %i, %n9 : index
      %n15 = arith.constant 15 : index
      %p15 = arith.addi %i, %n15 : index
      %a1 = vector.load %X[%p1] : memref<256xf64, 1 : i32>, vector<8xf64>
      %b1 = vector.load %X[%p9] : memref<256xf64, 1 : i32>, vector<8xf64>
      %d1 = vector.load %X[%p15] : memref<256xf64, 1 : i32>, vector<8xf64>
      %x1 = vector.shuffle %a1, %b1 [0, 3, 6, 9, 12, 15, 0, 0] : vector<8xf64>, vector<8xf64>
      %y1 = vector.shuffle %x1, %d1 [0, 1, 2, 3, 4, 5, 12, 15] : vector<8xf64>, vector<8xf64>
      vector.store %y1, %O[%p1] : memref<256xf64, 1 : i32>, vector<8xf64>
      %n2 = arith.constant 2 : index
      %p2 = arith.addi %i, %n2 : index
      %n10 = arith.constant 10 : index
      %p10 = arith.addi %i, %n10 : index
      %n16 = arith.constant 16 : index
      %p16 = arith.addi %i, %n16 : index
      %a2 = vector.load %X[%p2] : memref<256xf64, 1 : i32>, vector<8xf64>
      %b2 = vector.load %X[%p10] : memref<256xf64, 1 : i32>, vector<8xf64>
      %d2 = vector.load %X[%p16] : memref<256xf64, 1 : i32>, vector<8xf64>
      %x2 = vector.shuffle %a2, %b2 [0, 3, 6, 9, 12, 15, 0, 0] : vector<8xf64>, vector<8xf64>
      %y2 = vector.shuffle %x2, %d2 [0, 1, 2, 3, 4, 5, 12, 15] : vector<8xf64>, vector<8xf64>
      vector.store %y2, %O[%p2] : memref<256xf64, 1 : i32>, vector<8xf64>
      scf.yield %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8, %s9, %s10, %s11, %s12, %s13, %s14, %s15, %s16, %s17, %s18, %s19, %s20, %s21, %s22, %s23, %s24, %s25, %s26 : vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>, vector<8xf64>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "sums"} : () -> ()
}) : () -> ()
