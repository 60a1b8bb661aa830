import { parseArgs } from 'node:util'
import {
  prepareBuiltinPack,
  type PrepareProgress,
} from '../../models/builtin/prepare-builtin-pack.ts'
import { print } from '../with-store.ts'
import { modelsFolder } from './models-folder.ts'

/** Does what the first start does, ahead of it: for images, which are to start without converting. */
export async function prepare(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
  })
  const folder = modelsFolder()
  const models: Pick<PrepareProgress, 'id' | 'outcome'>[] = []
  await prepareBuiltinPack({
    folder,
    onProgress: ({ id, outcome }) => models.push({ id, outcome }),
  })
  print({ folder, models }, values.json, () =>
    [...models.map(({ id, outcome }) => `${outcome} ${id}`), `all models are in ${folder}`].join(
      '\n',
    ),
  )
}
