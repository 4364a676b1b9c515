// RUN: tile-opt %s -p gpu-divide-groups --split-input-file | filecheck %s

// The first groups compute the first kernel; of the second one, whose groups are half as large,
// each computes two, which have halves of the local memory. A kernel that nothing launches goes.
// CHECK:       "gpu.module"() <{sym_name = "m"}>
// CHECK-NEXT:    "gpu.func"()
// CHECK-NEXT:    ^bb0(%A: memref<24xf32, 1 : i32>, %B: memref<24xf32, 1 : i32>):
// CHECK-NEXT:      %group = "gpu.block_id"
// CHECK-NEXT:      %item = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
// CHECK-NEXT:      [[END:%.*]] = arith.constant 6 : index
// CHECK-NEXT:      [[TEST:%.*]] = arith.cmpi slt, %group, [[END]] : index
// CHECK-NEXT:      scf.if [[TEST]] {
// CHECK:             [[X:%.*]] = arith.remui %group, {{%.*}} : index
// CHECK:             [[Y:%.*]] = arith.divui %group, {{%.*}} : index
// CHECK:             [[P:%.*]] = arith.addi [[X]], [[Y]] : index
// CHECK-NEXT:        [[V:%.*]] = memref.load %A[[[P]]]
// CHECK-NEXT:        memref.store [[V]], %A[%item]
// CHECK-NEXT:      } else {
// CHECK:             [[BEGIN:%.*]] = arith.subi %group, {{%.*}} : index
// CHECK:             [[PART:%.*]] = arith.divui %item, {{%.*}} : index
// CHECK:             [[ITEM:%.*]] = arith.remui %item, {{%.*}} : index
// CHECK:             [[FIRST:%.*]] = arith.muli [[BEGIN]], {{%.*}} : index
// CHECK-NEXT:        [[GROUP:%.*]] = arith.addi [[FIRST]], [[PART]] : index
// CHECK:             [[ALL:%.*]] = memref.alloca() : memref<32xf32, 3 : i32>
// CHECK-NEXT:        [[STEP:%.*]] = arith.constant 16 : index
// CHECK-NEXT:        [[START:%.*]] = arith.muli [[PART]], [[STEP]] : index
// CHECK-NEXT:        [[OWN:%.*]] = memref.reinterpret_cast [[ALL]] to offset: [[[START]]], sizes: [2], strides: [1]
// CHECK-NEXT:        [[B:%.*]] = memref.load %B[[[GROUP]]]
// CHECK-NEXT:        memref.store [[B]], [[OWN]][[[ITEM]]]
// CHECK-NEXT:        "gpu.barrier"
// CHECK:           }
// CHECK-NEXT:      "gpu.return"
// CHECK-NOT:   sym_name = "first"
// CHECK:       sym_name = "second"
// CHECK-NOT:   nest.call
builtin.module {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<24xf32, 1 : i32>, memref<24xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<24xf32, 1 : i32>, %B: memref<24xf32, 1 : i32>):
    nest.call @first(%A) : memref<24xf32, 1 : i32>
    nest.call @second(%B) : memref<24xf32, 1 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "both", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 8, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<24xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<24xf32, 1 : i32>):
    %x = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
    %y = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
    %p = arith.addi %x, %y : index
    %item = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
    %v = memref.load %A[%p] : memref<24xf32, 1 : i32>
    memref.store %v, %A[%item] : memref<24xf32, 1 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 2, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<24xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%B: memref<24xf32, 1 : i32>):
    %x = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
    %item = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
    %tile = memref.alloca() : memref<2xf32, 3 : i32>
    %v = memref.load %B[%x] : memref<24xf32, 1 : i32>
    memref.store %v, %tile[%item] : memref<2xf32, 3 : i32>
    "gpu.barrier"() : () -> ()
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 2, 1, 1>, gpu.known_grid_size = array<i32: 4, 1, 1>} : () -> ()
}) : () -> ()
func.func @host(%B: memref<24xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  "gpu.launch_func"(%four, %one, %one, %two, %one, %one, %B) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0>}> : (index, index, index, index, index, index, memref<24xf32, 1 : i32>) -> ()
  func.return
}
}
