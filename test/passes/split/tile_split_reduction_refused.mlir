// RUN: not tile-opt %s -p 'tile-split-reduction{index=k parts=1}' 2>&1 | filecheck %s --check-prefix=PARTS
// RUN: not tile-opt %s -p 'tile-split-reduction{index=q parts=4}' 2>&1 | filecheck %s --check-prefix=INDEX
// RUN: not tile-opt %s -p 'tile-split-reduction{index=k parts=4 contraction=X}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not tile-opt %s -p 'tile-split-reduction{index=i parts=4 contraction=C}' 2>&1 | filecheck %s --check-prefix=OUTPUT
// RUN: not tile-opt %s -p 'tile-split-reduction{index=q parts=4 contraction=C}' 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: not tile-opt %s -p 'tile-split-reduction{index=k parts=4 contraction=M}' 2>&1 | filecheck %s --check-prefix=UNWRITTEN
// RUN: not tile-opt %s -p 'tile-split-reduction{index=k parts=4 contraction=T}' 2>&1 | filecheck %s --check-prefix=ASSIGN
// RUN: not tile-opt %s -p 'tile-split-reduction{index=k parts=4 contraction=O}' 2>&1 | filecheck %s --check-prefix=ONE
// RUN: not tile-opt %s -p 'tile-fuse,tile-split-reduction{index=k parts=4 contraction=C}' 2>&1 | filecheck %s --check-prefix=KERNEL

// PARTS: `parts` must be at least 2, got 1
// INDEX: no contraction that can be split sums over q
// NAME: there is no contraction X; there is C, M, T, O
// OUTPUT: C cannot be split: i is an index of the result
// OTHER: C cannot be split: it has no index q, but i, k
// UNWRITTEN: M cannot be split: elements on which nothing lands must be 0, and not -inf
// ASSIGN: T cannot be split: every element is assigned once
// ONE: O cannot be split: k takes one value
// KERNEL: C cannot be split: it is in a kernel: run tile-split-reduction before tile-fuse
func.func @f(%A: tensor<5x10xf32>, %B: tensor<5x1xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<1xf32>, tensor<5xf32>) {
  %C = tile.contraction add(%A[i, k]) -> [i] domain <i = 0 to 5, k = 0 to 10> : (tensor<5x10xf32>) -> tensor<5xf32>
  %M = tile.contraction max(%A[i, k]) -> [i] where 0 <= i - 2*k < 1 domain <i = 0 to 5, k = 0 to 3> : (tensor<5x10xf32>) -> tensor<5xf32>
  %T = tile.contraction assign(%A[0, k]) -> [0] where 0 <= 2*k - 4 < 2 domain <k = 2 to 3> : (tensor<5x10xf32>) -> tensor<1xf32>
  %O = tile.contraction add(%B[i, k]) -> [i] domain <i = 0 to 5, k = 0 to 1> : (tensor<5x1xf32>) -> tensor<5xf32>
  func.return %C, %M, %T, %O : tensor<5xf32>, tensor<5xf32>, tensor<1xf32>, tensor<5xf32>
}
