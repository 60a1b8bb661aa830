import { access, constants, mkdir, open, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { UsageError } from '../command.ts'

/** The formats of curves and tables. */
const imageExtensions = new Set(['.svg', '.png'])

/**
 * Checks before an evaluation that its result can be written, and creates the folder of the file.
 * Nothing is done if `file` is undefined.
 *
 * @param option the option that names the file.
 * @throws UsageError that names the file, the rule and the remedy.
 */
export async function checkImageOutput(option: string, file: string | undefined): Promise<void> {
  if (file === undefined) return
  if (!imageExtensions.has(path.extname(file).toLowerCase()))
    throw new UsageError(
      `${option} ${file} is neither .svg nor .png; choose a name with one of these extensions`,
    )
  await checkOutputFile(option, file)
}

/**
 * Checks that `file` can be written and creates its folder. An existing file is not changed.
 *
 * @throws UsageError that names the file, the rule and the remedy.
 */
export async function checkOutputFile(option: string, file: string): Promise<void> {
  const folder = path.dirname(path.resolve(file))
  const fail = (problem: string) => (cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(
      `${option} ${file}: ${problem} (${reason}); choose a file that you can write`,
      { cause },
    )
  }
  await mkdir(folder, { recursive: true }).catch(fail(`the folder ${folder} cannot be created`))
  const existing = await stat(file).catch(() => undefined)
  if (existing?.isDirectory())
    throw new UsageError(`${option} ${file} is a folder; add the name of a file`)
  if (existing)
    await access(file, constants.W_OK).catch(fail('the existing file cannot be overwritten'))
  else await createAndRemove(file).catch(fail(`no file can be created in ${folder}`))
}

/** Permissions alone do not show that a file can be created: the file system may be read-only. */
async function createAndRemove(file: string): Promise<void> {
  const handle = await open(file, 'wx')
  await handle.close()
  await rm(file)
}
