// RUN: tile-opt %s -p nest-to-gpu --split-input-file | filecheck %s

// Parallel loops become numbers, serial ones carry registers, unrolled ones are written out, and what two places load is loaded once.
// CHECK:      %{{[0-9]+}} = arith.constant 2 : index
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 32 : index
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 1 : index
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 4 : index
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0 : index
// CHECK-NEXT: %group_x = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
// CHECK-NEXT: %item_x = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
// CHECK-NEXT: %acc = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.muli %item_x, %{{[0-9]+}} : index
// CHECK-NEXT: %acc_1, %acc_2 = scf.for %k = %{{[0-9]+}} to %{{[0-9]+}} step %{{[0-9]+}} iter_args(%acc_3 = %acc, %acc_4 = %acc) -> (f32, f32) {
// CHECK-NEXT:   %{{[0-9]+}} = arith.addi %{{[0-9]+}}, %k : index
// CHECK-NEXT:   %a = memref.load %A[%{{[0-9]+}}] : memref<64xf32, 1 : i32>
// CHECK-NEXT:   %acc_5 = arith.addf %acc_3, %a : f32
// CHECK-NEXT:   %acc_6 = arith.addf %acc_4, %a : f32
// CHECK-NEXT:   scf.yield %acc_5, %acc_6 : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: %{{[0-9]+}} = arith.muli %group_x, %{{[0-9]+}} : index
// CHECK-NEXT: %{{[0-9]+}} = arith.muli %item_x, %{{[0-9]+}} : index
// CHECK-NEXT: %{{[0-9]+}} = arith.addi %{{[0-9]+}}, %{{[0-9]+}} : index
// CHECK-NEXT: memref.store %acc_1, %B[%{{[0-9]+}}] : memref<64xf32, 1 : i32>
// CHECK-NEXT: %{{[0-9]+}} = arith.addi %{{[0-9]+}}, %{{[0-9]+}} : index
// CHECK-NEXT: memref.store %acc_2, %B[%{{[0-9]+}}] : memref<64xf32, 1 : i32>
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>, memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>, %B: memref<64xf32, 1 : i32>):
    nest.for %g : group.x to 2 {
      nest.for %i : local.x to 16 {
        %acc = nest.buffer : memref<2xf32, 5 : i32>
        %zero = arith.constant 0.0 : f32
        nest.for %u : unroll to 2 {
          nest.store %zero, %acc[%u] : f32, memref<2xf32, 5 : i32>
        }
        nest.for %k : serial to 4 {
          nest.for %u : unroll to 2 {
            %a = nest.load %A[4*%i + %k] : memref<64xf32, 1 : i32>
            %s = nest.load %acc[%u] : memref<2xf32, 5 : i32>
            %t = arith.addf %s, %a : f32
            nest.store %t, %acc[%u] : f32, memref<2xf32, 5 : i32>
          }
        }
        nest.for %u : unroll to 2 {
          %s = nest.load %acc[%u] : memref<2xf32, 5 : i32>
          nest.store %s, %B[32*%g + 2*%i + %u] : f32, memref<64xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Conditions become branches; a load under one gives a default elsewhere.
// CHECK:      %{{[0-9]+}} = arith.constant 8 : index
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 4 : index
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 60 : index
// CHECK-NEXT: %item_x = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
// CHECK-NEXT: %{{[0-9]+}} = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi slt, %item_x, %{{[0-9]+}} : index
// CHECK-NEXT: %a = scf.if %{{[0-9]+}} -> (f32) {
// CHECK-NEXT:   %{{[0-9]+}} = arith.addi %item_x, %{{[0-9]+}} : index
// CHECK-NEXT:   %{{[0-9]+}} = memref.load %A[%{{[0-9]+}}] : memref<64xf32, 1 : i32>
// CHECK-NEXT:   scf.yield %{{[0-9]+}} : f32
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield %{{[0-9]+}} : f32
// CHECK-NEXT: }
// CHECK-NEXT: %{{[0-9]+}} = arith.cmpi sle, %{{[0-9]+}}, %item_x : index
// CHECK-NEXT: scf.if %{{[0-9]+}} {
// CHECK-NEXT:   %{{[0-9]+}} = arith.subi %item_x, %{{[0-9]+}} : index
// CHECK-NEXT:   memref.store %a, %B[%{{[0-9]+}}] : memref<64xf32, 1 : i32>
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>, memref<64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32, 1 : i32>, %B: memref<64xf32, 1 : i32>):
    nest.for %i : local.x to 64 {
      %a = nest.load %A[%i + 4] if %i < 60 : memref<64xf32, 1 : i32>
      nest.if 8 <= %i {
        nest.store %a, %B[%i - 8] : f32, memref<64xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// What a loop is the first to write in registers is carried out of it.
// CHECK:      [[ZERO:%.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: [[R:%.*]], [[S:%.*]] = scf.for %k = {{.*}} iter_args([[R0:%.*]] = [[ZERO]], [[S0:%.*]] = [[ZERO]]) -> (f32, f32) {
// CHECK-NEXT:   [[A:%.*]] = memref.load %A[%k]
// CHECK-NEXT:   scf.yield [[R0]], [[A]] : f32, f32
// CHECK-NEXT: }
// CHECK-NEXT: memref.store [[S]], %A[%group_x]
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32, 1 : i32>):
    nest.for %i : group.x to 8 {
      %r = nest.buffer : memref<2xf32, 5 : i32>
      nest.for %k : serial to 4 {
        %a = nest.load %A[%k] : memref<8xf32, 1 : i32>
        nest.store %a, %r[1] : f32, memref<2xf32, 5 : i32>
      }
      %b = nest.load %r[1] : memref<2xf32, 5 : i32>
      nest.store %b, %A[%i] : f32, memref<8xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// A place that the data says is another one in each step of a loop that is written out.
// CHECK: "gpu.func"
// CHECK: %[[FIRST:.*]] = memref.load %I[%{{.*}}]
// CHECK: %[[P:.*]] = arith.index_cast %[[FIRST]]
// CHECK: memref.load %W[%[[P]]]
// CHECK: %[[SECOND:.*]] = memref.load %I[%{{.*}}]
// CHECK: %[[Q:.*]] = arith.index_cast %[[SECOND]]
// CHECK: memref.load %W[%[[Q]]]
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{kernel, function_type = (memref<8xf32, 1 : i32>, memref<2xi32, 1 : i32>, memref<2xf32, 1 : i32>) -> ()}> ({
  ^bb0(%W: memref<8xf32, 1 : i32>, %I: memref<2xi32, 1 : i32>, %O: memref<2xf32, 1 : i32>):
    nest.for %i : unroll to 2 {
      %n = nest.load %I[%i] : memref<2xi32, 1 : i32>
      %position = arith.index_cast %n : i32 to index
      %v = nest.load %W[%position] : memref<8xf32, 1 : i32>
      nest.store %v, %O[%i] : f32, memref<2xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "gathered"} : () -> ()
}) : () -> ()

// -----

// Where a condition does not hold, no test asks for it again, nor for what follows from it.
// CHECK:      "gpu.func"
// CHECK:      scf.if %{{.*}} {
// CHECK:        memref.store %{{.*}}, %A[%{{.*}}]
// CHECK-NEXT: } else {
// CHECK-NOT:    scf.if
// CHECK:        memref.store %{{.*}}, %B[%{{.*}}]
// CHECK-NEXT: }
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32, 1 : i32>, %B: memref<8xf32, 1 : i32>):
    nest.for %i : group.x to 8 {
      %a = nest.load %A[%i] : memref<8xf32, 1 : i32>
      nest.if %i < 6 {
        nest.store %a, %A[%i] : f32, memref<8xf32, 1 : i32>
      } else {
        nest.if %i < 5 {
          nest.store %a, %A[%i] : f32, memref<8xf32, 1 : i32>
        }
        nest.if 6 <= %i {
          nest.store %a, %B[%i] : f32, memref<8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// Of a nest without loops and accesses, whose only branch is never taken, nothing is left.
// CHECK:      "gpu.func"
// CHECK-NEXT: ^{{.*}}(%S: memref<0xi32, 1 : i32>):
// CHECK-NEXT:   "gpu.return"
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<0xi32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%S: memref<0xi32, 1 : i32>):
    nest.if false {
      %zero = arith.constant 0 : i32
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// What steps that are written out shuffle alike is shuffled once.
// CHECK:      "gpu.func"
// CHECK:      vector.shuffle
// CHECK-NOT:  vector.shuffle
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<16xf32, 1 : i32>, memref<16xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<16xf32, 1 : i32>, %B: memref<16xf32, 1 : i32>):
    nest.for %i : unroll to 2 {
      %a = nest.load %A[0] : memref<16xf32, 1 : i32>, vector<8xf32>
      %b = nest.load %A[8] : memref<16xf32, 1 : i32>, vector<8xf32>
      %even = vector.shuffle %a, %b [0, 2, 4, 6, 8, 10, 12, 14] : vector<8xf32>, vector<8xf32>
      nest.store %even, %B[8*%i] : vector<8xf32>, memref<16xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "shuffled"} : () -> ()
}) : () -> ()
