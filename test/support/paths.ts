import path from 'node:path'

/** The root of the project. */
export const rootDir = path.join(import.meta.dirname, '../..')

/** Cache of the tests: converted models, screenshots, compiled code. Git ignores it. */
export const outputDir = path.join(rootDir, 'test/output')

/** Models converted once and shared by all tests. */
export const testModelsFolder = path.join(outputDir, 'models')

export const fixturesFolder = path.join(rootDir, 'test/fixtures')

/** Pictures and networks beside the project; tests that need them are skipped without them. */
export const evalDataFolder = path.join(rootDir, '../shared/eval-data')

/** The service and its command line. */
export const mainFile = path.join(rootDir, 'src/main.ts')
export const cliMainFile = path.join(rootDir, 'src/cli/main.ts')
