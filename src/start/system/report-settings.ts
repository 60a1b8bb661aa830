import { homedir } from 'node:os'
import { settingsByTopic, type Config } from '../../config.ts'
import type { SettingsTopic } from '../../console/pages/system/server-status.ts'
import type { Setting } from '../../lib/setting.ts'

/** Returns the value of every setting by topic. */
export function reportSettings(config: Config): readonly SettingsTopic[] {
  return Object.entries(settingsByTopic).map(([topic, settings]) => ({
    topic,
    settings: Object.entries<Setting<unknown>>(settings).map(([name, setting]) => {
      // The names of the topics are those of the configuration.
      const value: unknown = config[name as keyof Config]
      return {
        name,
        value: shownValue(value, setting),
        isDefault: String(setting.schema.safeParse(setting.defaultValue).data) === String(value),
        meaning: plainText(setting.description),
        range: plainText(setting.range),
      }
    }),
  }))
}

/** Queries of addresses can contain keys, and the home folder contains the name of a person. */
function shownValue(value: unknown, { isSecret = false }: Setting<unknown>): string {
  const text = String(value)
  if (isSecret) return text === '' ? 'not set' : 'set'
  const withoutQuery = /^https?:/u.test(text) ? text.replace(/\?.*$/u, '?[removed]') : text
  const home = homedir()
  return home.length > 1 ? withoutQuery.replace(home, '~') : withoutQuery
}

/** Removes the links and the code marks of Markdown. */
function plainText(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1').replaceAll('`', '')
}
