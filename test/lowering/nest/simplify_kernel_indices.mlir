// RUN: tile-opt %s -p 'simplify-index-arithmetic{count=true}' --split-input-file | filecheck %s

// At the kernel level: (item + 64) mod 64 is the item, whose range the size of the group tells.
// CHECK:      %item = "gpu.thread_id"
// CHECK-NEXT: %a = memref.load %A[%item] : memref<64xf32>
// CHECK-NEXT: memref.store %a, %A[%item] : memref<64xf32>
// CHECK:      index_operations.before = 2 : i64, index_operations.after = 0 : i64
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32>) -> (), kernel}> ({
  ^bb0(%A: memref<64xf32>):
    %size = arith.constant 64 : index
    %item = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
    %next = arith.addi %item, %size : index
    %place = arith.remui %next, %size : index
    %a = memref.load %A[%place] : memref<64xf32>
    memref.store %a, %A[%item] : memref<64xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "f", gpu.known_block_size = array<i32: 64, 1, 1>} : () -> ()
}) : () -> ()

// -----

// The range of a loop decides a test; inside a branch its condition is known.
// CHECK:      scf.for %i = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT:   %a = memref.load %A[%i] : memref<8xf32>
// CHECK-NEXT:   memref.store %a, %A[%i] : memref<8xf32>
// CHECK-NEXT: }
// CHECK:      index_operations.before = 5 : i64, index_operations.after = 0 : i64
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32>):
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %3 = arith.constant 3 : index
    %8 = arith.constant 8 : index
    scf.for %i = %0 to %8 step %1 {
      %high = arith.muli %i, %8 : index
      %sum = arith.addi %high, %3 : index
      %place = arith.divui %sum, %8 : index
      %inside = arith.cmpi slt, %i, %8 : index
      %last = arith.constant 7 : index
      %chosen = arith.select %inside, %place, %last : index
      %a = memref.load %A[%chosen] : memref<8xf32>
      memref.store %a, %A[%i] : memref<8xf32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()

// -----

// What is not known stays: a size of any value, a truth value that is loaded.
// CHECK:      %place = arith.remui %i, %n : index
// CHECK:      scf.if %test
// CHECK:      index_operations.before = 0 : i64, index_operations.after = 0 : i64
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>, index, i1) -> (), kernel}> ({
  ^bb0(%A: memref<8xf32>, %n: index, %test: i1):
    %i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
    %place = arith.remui %i, %n : index
    scf.if %test {
      %a = memref.load %A[%place] : memref<8xf32>
      memref.store %a, %A[%i] : memref<8xf32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
