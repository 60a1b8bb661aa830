import { Button, Group, Menu } from '@mantine/core'
import { useState } from 'react'
import { CommandDialog } from './command-dialog.tsx'
import type { ModelRow } from './model-rows.ts'
import { QualifyDialog } from './qualify-dialog.tsx'
import { useModelCommand } from './use-model-command.ts'

type Props = {
  readonly models: readonly ModelRow[]
  readonly onInstall: (pack: string) => void
}

/** The changes that concern no listed network: packs of the server, a new recognizer, a check. */
export function ModelActions({ models, onInstall }: Props) {
  const [opened, setOpened] = useState<'qualify' | 'verify'>()
  const { incoming } = useModelCommand(true)
  const packs = incoming.filter(({ kind }) => kind === 'pack')
  const close = (): void => setOpened(undefined)
  return (
    <Group gap="xs">
      {packs.length > 0 && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button size="xs" variant="default">
              Install an incoming pack
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {packs.map(({ name }) => (
              <Menu.Item key={name} onClick={() => onInstall(name)}>
                {name}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      <Button size="xs" variant="default" onClick={() => setOpened('qualify')}>
        Qualify a recognizer
      </Button>
      <Button size="xs" variant="default" onClick={() => setOpened('verify')}>
        Check the files
      </Button>
      {opened === 'qualify' && <QualifyDialog detector={detectorOf(models)} onClose={close} />}
      {opened === 'verify' && (
        <CommandDialog
          title="Check the files"
          submitLabel="Check"
          command={{ command: 'verify' }}
          mayChange
          onClose={close}
        >
          Compares every installed file with its checksum, and runs each network once.
        </CommandDialog>
      )}
    </Group>
  )
}

/** A recognizer is measured with the detector in use. */
function detectorOf(models: readonly ModelRow[]): string | undefined {
  const isDetector = ({ roles, state, use }: ModelRow) =>
    roles.includes('detector') && state === 'installed' && use === 'active'
  return models.find(isDetector)?.model
}
