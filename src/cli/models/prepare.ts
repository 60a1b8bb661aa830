import { parseArgs } from 'node:util'
import { preparePack, type PackProgress } from '../../models/prepare.ts'
import { print } from '../admin.ts'
import { modelsFolder } from './folder.ts'

/** Does what the first start does, ahead of it: for images, which are to start without converting. */
export async function prepare(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
  })
  const folder = modelsFolder()
  const models: Pick<PackProgress, 'id' | 'what'>[] = []
  await preparePack({ folder, onProgress: ({ id, what }) => models.push({ id, what }) })
  print({ folder, models }, values.json, () =>
    [...models.map(({ id, what }) => `${what} ${id}`), `all models are in ${folder}`].join('\n'),
  )
}
