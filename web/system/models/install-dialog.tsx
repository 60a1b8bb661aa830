import { Checkbox, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { formatBytes } from '../../format/numbers.ts'
import { CommandDialog } from './command-dialog.tsx'
import { Licences, packBytes } from './licences.tsx'
import { isRestricted, packOf, type ModelRow } from './model-rows.ts'

type Props = {
  readonly pack: string
  readonly models: readonly ModelRow[]
  readonly mayChange: boolean
  readonly onClose: () => void
}

/** Shows the networks and the licences of a pack, then installs it. */
export function InstallDialog({ pack, models, mayChange, onClose }: Props) {
  const networks = models.filter((model) => packOf(model) === pack)
  const isKnown = networks.length > 0
  const mustAccept = networks.some(isRestricted)
  const [isAccepted, setIsAccepted] = useState(false)
  const [isUsed, setIsUsed] = useState(
    isKnown && networks.every(({ roles }) => !roles.includes('recognizer')),
  )
  const bytes = packBytes(models, pack)
  const options = { use: isUsed, 'accept-licence': isAccepted }
  return (
    <CommandDialog
      title={`Install ${pack}`}
      submitLabel="Install"
      command={{ command: 'install', target: pack, options }}
      isReady={isAccepted || !mustAccept}
      mayChange={mayChange}
      onClose={onClose}
    >
      {isKnown ? (
        <Text size="sm">
          {networks[0]?.description}
          {bytes !== null && ` Download: ${formatBytes(bytes)}.`} Files in the folder of incoming
          files are not downloaded. Every file is checked against its checksum.
        </Text>
      ) : (
        <Text size="sm">
          A pack in the folder of incoming files. Its pack.json states the licence; if that requires
          an acceptance, the output of the command shows it.
        </Text>
      )}
      <Stack gap="xs">
        <Licences models={networks} />
      </Stack>
      {(mustAccept || !isKnown) && (
        <Checkbox
          label="I have read the licence and accept it"
          checked={isAccepted}
          onChange={(event) => setIsAccepted(event.currentTarget.checked)}
        />
      )}
      <Checkbox
        label="Use its networks after the next restart"
        description="A recognizer without a similarity table cannot be used yet."
        checked={isUsed}
        onChange={(event) => setIsUsed(event.currentTarget.checked)}
      />
    </CommandDialog>
  )
}
