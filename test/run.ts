/** Runs all tests. The arguments are patterns of further files, which start first. */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import path from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { prepareBuiltinPack } from '../src/models/builtin/prepare-builtin-pack.ts'
import { globalSetup, globalTeardown } from './global-setup.ts'
import { allTestFiles } from './support/areas.ts'
import { rootDir, testModelsFolder } from './support/paths.ts'

// Built once for all files. The tests of the console report why a build failed.
spawnSync(process.execPath, ['web/build.ts'], { cwd: rootDir, stdio: 'inherit' })
// In a new clone, four processes would convert the models at the same time.
await prepareBuiltinPack({ folder: testModelsFolder })
await globalSetup()

const further = globSync(process.argv.slice(2), { cwd: rootDir }).toSorted()
// `node --test` would sort the files. Here the longest ones start first.
const results = run({
  cwd: rootDir,
  files: [...further, ...allTestFiles()].map((file) => path.join(rootDir, file)),
  // The tests wait for a part of their time: four files at a time keep two cores busy.
  concurrency: 4,
}).on('test:summary', ({ success }) => {
  if (!success) process.exitCode = 1
})
for await (const text of results.compose(new spec())) process.stdout.write(String(text))
await globalTeardown()
