import { writeFile } from 'node:fs/promises'
import { contractSource } from './contract-source.ts'

/** Run by `npm run contract`, after a change of the schemas. */
await writeFile(new URL('../src/contract.ts', import.meta.url), contractSource())
