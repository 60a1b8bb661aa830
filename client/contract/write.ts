import { writeFile } from 'node:fs/promises'
import { contractFiles } from './contract-files.ts'

/** Run by `npm run contract`, after a change of the schemas. */
for (const [file, source] of Object.entries(contractFiles))
  await writeFile(new URL(`../../${file}`, import.meta.url), source())
