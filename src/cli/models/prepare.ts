import {
  prepareBuiltinPack,
  type PrepareProgress,
} from '../../models/builtin/prepare-builtin-pack.ts'
import { print } from '../command.ts'
import { modelsFolder } from '../read-settings.ts'

/** Prepares the built-in models as the first start does, for example in a container image. */
export async function prepare({ json }: { readonly json: boolean }): Promise<void> {
  const folder = modelsFolder()
  const models: Pick<PrepareProgress, 'id' | 'outcome'>[] = []
  await prepareBuiltinPack({
    folder,
    onProgress: ({ id, outcome }) => models.push({ id, outcome }),
  })
  print({ folder, models }, json, () =>
    [...models.map(({ id, outcome }) => `${outcome} ${id}`), `all models are in ${folder}`].join(
      '\n',
    ),
  )
}
