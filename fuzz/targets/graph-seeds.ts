/** Small graph models with the operators of the converter. */
type SmallGraph = { readonly model: object; readonly weights: Uint8Array }

const constants: Readonly<Record<string, readonly number[]>> = {
  zero: [0],
  six: [6],
  axes: [1, 2],
  perChannel: [1, 2, 3],
  flat: [-1, 12],
  border: [0, 0, 0, 1, 2, 0, 0, 5],
}

/** Constants with more than one dimension. */
const filters: Readonly<Record<string, readonly number[]>> = {
  pointwise: [1, 1, 3, 2],
  depthwise: [3, 3, 3, 1],
  dense: [12, 2],
  denseBias: [2],
}

const text = (value: string) => ({ s: Buffer.from(value).toString('base64') })
const list = (...values: readonly number[]) => ({ list: { i: values.map(String) } })
const texts = (...values: readonly string[]) => ({
  list: { s: values.map((each) => text(each).s) },
})

const input = {
  name: 'x',
  op: 'Placeholder',
  attr: { shape: { shape: { dim: ['-1', '2', '2', '3'].map((size) => ({ size })) } } },
}

const strides = { strides: list(1, 1, 1, 1), padding: text('SAME') }
const fused = (...operations: readonly string[]) => ({ fused_ops: texts(...operations) })

const graphs: readonly (readonly object[])[] = [
  [{ name: 'relu', op: 'Relu', input: ['x'] }],
  [{ name: 'sum', op: 'AddV2', input: ['x', 'perChannel'] }],
  [
    { name: 'flatten', op: 'Reshape', input: ['x', 'flat'] },
    {
      name: 'dense',
      op: '_FusedMatMul',
      input: ['flatten', 'dense', 'denseBias'],
      attr: fused('BiasAdd', 'Relu'),
    },
    { name: 'softmax', op: 'Softmax', input: ['dense'] },
  ],
  [{ name: 'pad', op: 'Pad', input: ['x', 'border'] }],
  [
    { name: 'clipped', op: 'Maximum', input: ['bounded', 'zero'] },
    { name: 'bounded', op: 'Minimum', input: ['relu', 'six'] },
    { name: 'relu', op: 'Relu', input: ['x'] },
  ],
  [
    { name: 'conv', op: 'Conv2D', input: ['x', 'pointwise'], attr: strides },
    {
      name: 'mean',
      op: 'Mean',
      input: ['conv', 'axes'],
    },
  ],
  [
    { name: 'deep', op: 'DepthwiseConv2dNative', input: ['x', 'depthwise'], attr: strides },
    {
      name: 'fused',
      op: '_FusedConv2D',
      input: ['deep', 'pointwise', 'denseBias'],
      attr: { ...strides, ...fused('BiasAdd', 'Relu') },
    },
    {
      name: 'pool',
      op: 'MaxPool',
      input: ['fused'],
      attr: { ...strides, ksize: list(1, 2, 2, 1) },
    },
    { name: 'sigmoid', op: 'Sigmoid', input: ['pool'] },
    { name: 'prelu', op: 'Prelu', input: ['sigmoid', 'denseBias'] },
  ],
]

export function graphSeeds(): SmallGraph[] {
  const shapes = [
    ...Object.entries(constants).map(([name, values]) => [name, [values.length]] as const),
    ...Object.entries(filters),
  ]
  const weights = shapes.map(([name, shape]) => ({ name, shape, dtype: 'float32' }))
  const values = shapes.flatMap(([name, shape]) => {
    const size = shape.reduce((product, side) => product * side, 1)
    return constants[name] ?? Array.from({ length: size }, (_, index) => index)
  })
  const bytes = new Uint8Array(Float32Array.from(values).buffer)
  const constantNodes = shapes.map(([name]) => ({ name, op: 'Const' }))
  return graphs.map((nodes) => ({
    model: {
      // Unread constants would be outputs of the graph, so each graph has only its own.
      modelTopology: { node: [...nodes, input, ...constantNodes.filter(isReadBy(nodes))] },
      weightsManifest: [{ weights }],
    },
    weights: bytes,
  }))
}

function isReadBy(nodes: readonly object[]): (constant: { readonly name: string }) => boolean {
  const names = new Set(nodes.flatMap((node) => ('input' in node ? (node.input as string[]) : [])))
  return ({ name }) => names.has(name)
}
