// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | filecheck %s --check-prefix GENERIC
// RUN: tile-opt %s --print-op-generic | tile-opt | filecheck %s

%a, %b, %c, %i, %n = "test.op"() : () -> (tensor<4x8xf32>, tensor<8xf32>, tensor<4x1xi1>, tensor<4x8xi32>, index)

// CHECK: tile.abs %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.abs"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%abs = tile.abs %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.neg %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.neg"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%neg = tile.neg %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.relu %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.relu"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%relu = tile.relu %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.ident %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.ident"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%ident = tile.ident %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.acos %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.acos"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%acos = tile.acos %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.asin %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.asin"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%asin = tile.asin %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.atan %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.atan"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%atan = tile.atan %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.ceil %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.ceil"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%ceil = tile.ceil %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.cos %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.cos"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%cos = tile.cos %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.cosh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.cosh"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%cosh = tile.cosh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.erf %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.erf"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%erf = tile.erf %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.exp"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%exp = tile.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.expm1 %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.expm1"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%expm1 = tile.expm1 %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.log1p %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.log1p"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%log1p = tile.log1p %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.floor %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.floor"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%floor = tile.floor %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.log %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.log"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%log = tile.log %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.recip %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.recip"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%recip = tile.recip %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.round %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.round"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%round = tile.round %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.sigmoid %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.sigmoid"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%sigmoid = tile.sigmoid %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.sin %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.sin"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%sin = tile.sin %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.sinh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.sinh"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%sinh = tile.sinh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.sqrt %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.sqrt"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%sqrt = tile.sqrt %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.tan %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.tan"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%tan = tile.tan %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.tanh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.tanh"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%tanh = tile.tanh %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.bit_not %i : (tensor<4x8xi32>) -> tensor<4x8xi32>
// GENERIC: "tile.bit_not"(%i) : (tensor<4x8xi32>) -> tensor<4x8xi32>
%bit_not = tile.bit_not %i : (tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK: tile.add %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.add"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
%add = tile.add %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// CHECK: tile.sub %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.sub"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
%sub = tile.sub %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// CHECK: tile.mul %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.mul"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
%mul = tile.mul %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// CHECK: tile.div %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.div"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
%div = tile.div %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// CHECK: tile.rem %i, %i : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// GENERIC: "tile.rem"(%i, %i) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
%rem = tile.rem %i, %i : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK: tile.max %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.max"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
%max = tile.max %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// CHECK: tile.min %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.min"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
%min = tile.min %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// CHECK: tile.pow %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// GENERIC: "tile.pow"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
%pow = tile.pow %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// CHECK: tile.cmp_eq %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
// GENERIC: "tile.cmp_eq"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
%cmp_eq = tile.cmp_eq %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
// CHECK: tile.cmp_ne %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
// GENERIC: "tile.cmp_ne"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
%cmp_ne = tile.cmp_ne %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
// CHECK: tile.cmp_lt %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
// GENERIC: "tile.cmp_lt"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
%cmp_lt = tile.cmp_lt %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
// CHECK: tile.cmp_gt %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
// GENERIC: "tile.cmp_gt"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
%cmp_gt = tile.cmp_gt %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
// CHECK: tile.cmp_le %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
// GENERIC: "tile.cmp_le"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
%cmp_le = tile.cmp_le %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
// CHECK: tile.cmp_ge %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
// GENERIC: "tile.cmp_ge"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
%cmp_ge = tile.cmp_ge %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
// CHECK: tile.bit_and %i, %c : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
// GENERIC: "tile.bit_and"(%i, %c) : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
%bit_and = tile.bit_and %i, %c : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
// CHECK: tile.bit_or %i, %c : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
// GENERIC: "tile.bit_or"(%i, %c) : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
%bit_or = tile.bit_or %i, %c : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
// CHECK: tile.bit_xor %i, %c : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
// GENERIC: "tile.bit_xor"(%i, %c) : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
%bit_xor = tile.bit_xor %i, %c : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
// CHECK: tile.bit_left %i, %c : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
// GENERIC: "tile.bit_left"(%i, %c) : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
%bit_left = tile.bit_left %i, %c : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
// CHECK: tile.bit_right %i, %c : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
// GENERIC: "tile.bit_right"(%i, %c) : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>
%bit_right = tile.bit_right %i, %c : (tensor<4x8xi32>, tensor<4x1xi1>) -> tensor<4x8xi32>

// A choice, by a condition of its own type.
// CHECK: tile.select %c, %a, %i : (tensor<4x1xi1>, tensor<4x8xf32>, tensor<4x8xi32>) -> tensor<4x8xf32>
// GENERIC: "tile.select"(%c, %a, %i) : (tensor<4x1xi1>, tensor<4x8xf32>, tensor<4x8xi32>) -> tensor<4x8xf32>
%select = tile.select %c, %a, %i : (tensor<4x1xi1>, tensor<4x8xf32>, tensor<4x8xi32>) -> tensor<4x8xf32>

// Casts between all element types.
// GENERIC: "tile.cast"(%a) {a = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x8xui16>
// CHECK: tile.cast %a {a = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x8xui16>
%cast = tile.cast %a {a = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x8xui16>
// CHECK: tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xf16>
%cast_f16 = tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK: tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xf64>
%cast_f64 = tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xf64>
// CHECK: tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xi1>
%cast_i1 = tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xi1>
// CHECK: tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xi8>
%cast_i8 = tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xi8>
// CHECK: tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xi16>
%cast_i16 = tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xi16>
// CHECK: tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xi64>
%cast_i64 = tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xi64>
// CHECK: tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xui8>
%cast_ui8 = tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xui8>
// CHECK: tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xui32>
%cast_ui32 = tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xui32>
// CHECK: tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xui64>
%cast_ui64 = tile.cast %a : (tensor<4x8xf32>) -> tensor<4x8xui64>

// Positions.
// CHECK: tile.index %a axis 1 : (tensor<4x8xf32>) -> tensor<4x8xi32>
// GENERIC: "tile.index"(%a) <{axis = 1 : index}> : (tensor<4x8xf32>) -> tensor<4x8xi32>
%index = tile.index %a axis 1 : (tensor<4x8xf32>) -> tensor<4x8xi32>

// Numbers: of a type, of any integer type, of any real type.
// CHECK: tile.constant 2.5 : tensor<f32>
// CHECK: tile.constant -3 : tensor<index>
// CHECK: tile.constant 1.0e-10 : tensor<!tile.real>
// CHECK: tile.constant -inf : tensor<f64>
// CHECK: tile.constant nan : tensor<f16>
// CHECK: tile.constant 7 : tensor<ui8>
// GENERIC: "tile.constant"() <{value = 2.500000e+00 : f64}> : () -> tensor<f32>
%c0 = tile.constant 2.5 : tensor<f32>
%c1 = tile.constant -3 : tensor<index>
%c2 = tile.constant 1.0e-10 : tensor<!tile.real>
%c3 = tile.constant -inf : tensor<f64>
%c4 = tile.constant nan : tensor<f16>
%c5 = tile.constant 7 : tensor<ui8>

// A size as a number.
// CHECK: %size = tile.size %n : tensor<index>
// GENERIC: "tile.size"(%n) : (index) -> tensor<index>
%size = tile.size %n : tensor<index>

// Numbers of no width take the type of what they meet, or one of their own.
// CHECK: tile.add %c1, %a : (tensor<index>, tensor<4x8xf32>) -> tensor<4x8xf32>
%w183 = tile.add %c1, %a : (tensor<index>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.add %c1, %i : (tensor<index>, tensor<4x8xi32>) -> tensor<4x8xi32>
%w185 = tile.add %c1, %i : (tensor<index>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK: tile.add %c1, %c : (tensor<index>, tensor<4x1xi1>) -> tensor<4x1xi32>
%w187 = tile.add %c1, %c : (tensor<index>, tensor<4x1xi1>) -> tensor<4x1xi32>
// CHECK: tile.add %c1, %c1 : (tensor<index>, tensor<index>) -> tensor<index>
%w189 = tile.add %c1, %c1 : (tensor<index>, tensor<index>) -> tensor<index>
// CHECK: tile.add %c2, %a : (tensor<!tile.real>, tensor<4x8xf32>) -> tensor<4x8xf32>
%w191 = tile.add %c2, %a : (tensor<!tile.real>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: tile.add %c2, %i : (tensor<!tile.real>, tensor<4x8xi32>) -> tensor<4x8xf32>
%w193 = tile.add %c2, %i : (tensor<!tile.real>, tensor<4x8xi32>) -> tensor<4x8xf32>
// CHECK: tile.add %c2, %c : (tensor<!tile.real>, tensor<4x1xi1>) -> tensor<4x1xf32>
%w195 = tile.add %c2, %c : (tensor<!tile.real>, tensor<4x1xi1>) -> tensor<4x1xf32>
// CHECK: tile.add %c2, %c1 : (tensor<!tile.real>, tensor<index>) -> tensor<!tile.real>
%w197 = tile.add %c2, %c1 : (tensor<!tile.real>, tensor<index>) -> tensor<!tile.real>

// Shapes and types that are not known yet.
%u, %d = "test.op"() : () -> (tensor<*x!tile.any>, tensor<?x8x!tile.any>)
// CHECK: tile.add %u, %a : (tensor<*x!tile.any>, tensor<4x8xf32>) -> tensor<*x!tile.any>
%u202 = tile.add %u, %a : (tensor<*x!tile.any>, tensor<4x8xf32>) -> tensor<*x!tile.any>
// CHECK: tile.exp %d : (tensor<?x8x!tile.any>) -> tensor<?x8x!tile.any>
%u204 = tile.exp %d : (tensor<?x8x!tile.any>) -> tensor<?x8x!tile.any>
// CHECK: tile.cmp_lt %d, %a : (tensor<?x8x!tile.any>, tensor<4x8xf32>) -> tensor<4x8x!tile.any>
%u206 = tile.cmp_lt %d, %a : (tensor<?x8x!tile.any>, tensor<4x8xf32>) -> tensor<4x8x!tile.any>
// CHECK: tile.index %u axis 3 : (tensor<*x!tile.any>) -> tensor<*xi32>
%u208 = tile.index %u axis 3 : (tensor<*x!tile.any>) -> tensor<*xi32>
// CHECK: tile.cast %u : (tensor<*x!tile.any>) -> tensor<*xf32>
%u210 = tile.cast %u : (tensor<*x!tile.any>) -> tensor<*xf32>
