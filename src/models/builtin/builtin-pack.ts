import type { BuiltinModel, BuiltinModelId } from './builtin-model.ts'
import { constants } from './networks/constants.ts'
import data from './networks/networks.json' with { type: 'json' }

/** The types of a JSON module have no literals, such as the orders of colours; a test checks them. */
const files = data as Readonly<Record<BuiltinModelId, Omit<BuiltinModel, 'id' | 'constants'>>>

/**
 * The pack that needs no download: the weights are part of installed npm packages and are converted
 * at the first start. It is suitable for trials, for comparing two faces and for small galleries. Its
 * accuracy at very low false-match rates and its liveness check are weak.
 */
export const builtinPack = {
  models: Object.fromEntries(
    Object.entries(constants).map(([id, ofModel]) => [
      id,
      { id, ...files[id as BuiltinModelId], constants: ofModel },
    ]),
  ) as {
    readonly [Id in BuiltinModelId]: BuiltinModel &
      (typeof data)[Id] & { readonly constants: (typeof constants)[Id] }
  },
}

/** The licence of a model as its package states it. */
export function builtinLicence({ source }: BuiltinModel): string {
  return `MIT for the whole package (LICENSE of ${source.package}); no separate licence for the weights`
}
