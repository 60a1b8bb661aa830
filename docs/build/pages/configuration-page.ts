import { settingDescriptions, settingsByTopic } from '../../../src/config.ts'
import type { Setting } from '../../../src/lib/setting.ts'
import { markdownTable } from './markdown-table.ts'

/** `docs/configuration.md`: every setting, by topic, generated from `src/config.ts` and its descriptions. */
export function configurationPage(): string {
  const topics = Object.entries(settingsByTopic).map(
    ([topic, settings]) => `## ${topic}\n\n${settingsTable(settings)}`,
  )
  return `${[introduction, ...topics].join('\n\n')}\n`
}

const introduction = `# Configuration

Generated from \`src/config.ts\` and \`src/lib/settings/setting-descriptions.json\` by \`npm run docs\`; do not edit.

Each setting is an environment variable. All are validated at startup: with an invalid value the server does not start, and the error names the variable. [Sizing](operations/sizing.md) helps to choose the limits.

Amounts of money are in micros, millionths of the account's currency. An empty default means that the variable is not set.`

function settingsTable(settings: Readonly<Record<string, Setting<unknown>>>): string {
  return markdownTable(
    ['Variable', 'Default', 'Values', 'Meaning'],
    Object.entries(settings).map(([name, setting]) => [
      `\`${name}\``,
      defaultOf(setting),
      setting.range,
      // The names are those of the topics.
      settingDescriptions[name as keyof typeof settingDescriptions],
    ]),
  )
}

function defaultOf({ defaultValue, defaultText }: Setting<unknown>): string {
  return defaultText ?? (defaultValue === '' ? '' : `\`${defaultValue}\``)
}
