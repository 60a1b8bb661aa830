import type { BuiltinModel, BuiltinModelId, FileFacts, NetworkFacts } from './builtin-model.ts'
import data from './networks/networks.json' with { type: 'json' }
import { networks } from './networks/networks.ts'

const files: Readonly<Record<BuiltinModelId, FileFacts>> = data

/**
 * The pack that needs no download: the weights are part of installed npm packages and are converted
 * at the first start. It is suitable for trials, for comparing two faces and for small galleries. Its
 * accuracy at very low false-match rates and its liveness check are weak.
 */
export const builtinPack = {
  models: Object.fromEntries(
    Object.entries(networks).map(([id, facts]) => [id, toModel(id as BuiltinModelId, facts)]),
  ) as {
    readonly [Id in BuiltinModelId]: BuiltinModel &
      (typeof data)[Id] & { readonly constants: (typeof networks)[Id]['constants'] }
  },
}

function toModel(
  id: BuiltinModelId,
  { conversion, colourOrder, ...facts }: NetworkFacts,
): BuiltinModel {
  const { source, input, ...file } = files[id]
  return {
    id,
    ...file,
    ...facts,
    source: { ...source, conversion },
    input: { ...input, colourOrder },
  }
}

/** The licence of a model as its package states it. */
export function builtinLicence({ source }: BuiltinModel): string {
  return `MIT for the whole package (LICENSE of ${source.package}); no separate licence for the weights`
}
