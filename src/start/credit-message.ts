import { existsSync } from 'node:fs'
import path from 'node:path'
import { settings, type Config } from '../config.ts'
import { quoteForShell } from '../lib/escaping/quote-for-shell.ts'

/** Returns the paragraph of the first start about the credit. `searchPath`: the variable PATH. */
export function creditMessage(
  config: Pick<Config, 'STARTER_CREDIT_MICROS' | 'UNIT_PRICE_MICROS' | 'DATA_DIR' | 'DATABASE_URL'>,
  searchPath = '',
): string {
  const { STARTER_CREDIT_MICROS: creditMicros, UNIT_PRICE_MICROS: unitMicros } = config
  const units = unitMicros > 0n ? (creditMicros / unitMicros).toLocaleString('en') : 'unlimited'
  // In the image, npx cannot link the package. npm adds its own folders to the path of its scripts.
  const isInstalled = searchPath
    .split(path.delimiter)
    .some((each) => !each.includes('node_modules') && existsSync(path.join(each, 'facegate')))
  const command = `${storageSettings(config)}${isInstalled ? '' : 'npx '}facegate`
  return `The project default has a starter credit of ${units} price units; svc.detect costs 1, svc.enroll and
svc.identify cost 2. When it is used up, calls end with PAYMENT_REQUIRED. To add as much again:

  ${command} wallet top-up --amount ${creditMicros > 0n ? creditMicros : 10_000_000n}
  ${command} budget allocate --project default --amount ${creditMicros > 0n ? creditMicros : 10_000_000n}

To switch billing off, so that calls are metered but never refused for the budget:

  ${command} project set default --billing off`
}

/** Returns the settings that a command needs to use the same data; an address may have a password. */
function storageSettings({ DATA_DIR, DATABASE_URL }: Pick<Config, 'DATA_DIR' | 'DATABASE_URL'>) {
  const isSet = DATA_DIR !== settings.DATA_DIR.defaultValue
  const folder = isSet ? `DATA_DIR=${quoteForShell(path.resolve(DATA_DIR))} ` : ''
  return DATABASE_URL === '' ? folder : `${folder}DATABASE_URL=… `
}
