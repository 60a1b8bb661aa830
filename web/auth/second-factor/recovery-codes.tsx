import { Alert, Button, Checkbox, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { CodeBlock } from '../../components/code-block.tsx'

type Props = { readonly codes: readonly string[]; readonly onDone: () => void }

/** Shows the recovery codes once. The user must confirm that they were stored. */
export function RecoveryCodes({ codes, onDone }: Props) {
  const [isStored, setIsStored] = useState(false)
  return (
    <Stack>
      <Alert variant="default" title="The codes are shown only once">
        Each code replaces the app once, for example after the loss of your phone. Store them apart
        from your password.
      </Alert>
      <CodeBlock label="recovery codes" text={codes.join('\n')} />
      <Checkbox
        label="I have stored them"
        checked={isStored}
        onChange={(event) => setIsStored(event.currentTarget.checked)}
      />
      <Group justify="flex-end">
        <Button disabled={!isStored} onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  )
}
