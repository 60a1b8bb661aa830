import { statSync } from 'node:fs'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { rootDir } from '../../paths.ts'

type ScriptMeasurement = {
  readonly files: number
  /** The size of all scripts, gzipped. */
  readonly bytes: number
  /** The time of the first contentful paint. */
  readonly paintMs: number | undefined
}

/** Opens a page with a chart and measures the scripts that it loads. */
export async function measureScripts(page: Page, address: string): Promise<ScriptMeasurement> {
  const scripts = new Set<string>()
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (pathname.endsWith('.js')) scripts.add(pathname)
  })
  await page.goto(address)
  await page.locator('a.fg-chart-mark').first().waitFor()
  const dist = path.join(rootDir, 'web/dist')
  const bytes = [...scripts].reduce((sum, file) => sum + statSync(`${dist}${file}.gz`).size, 0)
  const paintMs = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
  )
  return { files: scripts.size, bytes, paintMs }
}
