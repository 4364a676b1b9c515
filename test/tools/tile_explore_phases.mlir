// RUN: rm -rf %t && mkdir %t
// RUN: printf '[algorithmic]\nexploration_depth = 1\n[parameters]\ndefault_input_size = 8\n' >%t/few.toml
// RUN: tile-explore %S/Inputs/doubled.mlir --phase algorithmic --settings %t/few.toml --programs 3 >%t/algorithmic.mlir
// RUN: filecheck %s --input-file %t/algorithmic.mlir --check-prefix ALGORITHMIC
// RUN: tile-explore %t/algorithmic.mlir --phase mapping --programs 30 >%t/mapping.mlir
// RUN: filecheck %s --input-file %t/mapping.mlir --check-prefix MAPPING
// RUN: tile-explore %t/mapping.mlir --phase parameters --settings %t/few.toml | filecheck %s --check-prefix ASSUMED
// RUN: tile-explore %t/mapping.mlir --phase parameters --shapes x=16xf32 | filecheck %s --check-prefix GIVEN
// RUN: not tile-explore %S/Inputs/doubled.mlir --phase tuning 2>&1 | filecheck %s --check-prefix PHASE
// RUN: not tile-explore %S/Inputs/doubled.mlir --phase mapping --trials 3 2>&1 | filecheck %s --check-prefix SEARCH

// ALGORITHMIC:      func.func @twice
// ALGORITHMIC-NOT:  // -----
// ALGORITHMIC:      lift.map(
// ALGORITHMIC:      // -----
// ALGORITHMIC-NEXT: // {{[a-z_]+.*}}
// ALGORITHMIC-NEXT: builtin.module {

// MAPPING: // -----
// MAPPING: // map_{{.*}} at
// MAPPING: lift.map_

// ASSUMED: // bind(N=8)
// ASSUMED: tensor<8xf32

// GIVEN: // bind(N=16)
// GIVEN: tensor<16xf32

// PHASE: tile-explore: there is no phase 'tuning'; there is algorithmic, mapping, parameters

// SEARCH: tile-explore: --trials is for searches, and --phase measures nothing
