import { NumberInput, Select, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { CommandDialog } from './command-dialog.tsx'
import { useModelCommand } from './use-model-command.ts'

type Props = {
  /** The installed detector in use; undefined for the built-in ones. */
  readonly detector: string | undefined
  readonly onClose: () => void
}

/** Installs, measures and calibrates a recognizer on pictures of the folder of incoming files. */
export function QualifyDialog({ detector, onClose }: Props) {
  const { incoming, incomingFolder } = useModelCommand(true)
  const networks = incoming.filter(({ name, kind }) => kind === 'file' && name.endsWith('.onnx'))
  const pictures = incoming.filter(({ name, kind }) => kind === 'folder' || name.endsWith('.csv'))
  const [network, setNetwork] = useState<string | null>(null)
  const [people, setPeople] = useState<string | null>(null)
  const [name, setName] = useState('')
  const [licence, setLicence] = useState('')
  const [commercialUse, setCommercialUse] = useState('unclear')
  const [dimensions, setDimensions] = useState<string | number>(512)
  const isNamed = /^[a-z0-9][a-z0-9._-]{0,63}$/u.test(name)
  const options = {
    pictures: people ?? '<folder of people>',
    name: name || '<name>',
    licence: licence || '<licence>',
    'commercial-use': commercialUse,
    dimensions: Number(dimensions),
    ...(detector !== undefined && { models: detector }),
  }
  return (
    <CommandDialog
      title="Qualify a recognizer"
      submitLabel="Qualify"
      command={{ command: 'qualify', target: network ?? '<file.onnx>', options }}
      isReady={network !== null && people !== null && isNamed && licence.trim() !== ''}
      mayChange
      onClose={onClose}
    >
      <Text size="sm">
        Installs a network of the ArcFace type as a pack, measures it on your pictures, and creates
        its similarity table. Place the network file and a folder with one folder of pictures for
        each person in <span className="fg-mono">{incomingFolder}</span> on the server: the console
        receives no network files. At least 150 pictures; 807 take two minutes on two cores. Take
        pictures of 150 people or more: these people become part of the recognizer, and if they are
        few, it recognizes them less often than other people. The output of the command warns then.
      </Text>
      <Select
        label="Network file"
        required
        placeholder={networks.length === 0 ? 'The folder contains no .onnx file' : 'Choose a file'}
        data={networks.map((file) => file.name)}
        value={network}
        onChange={setNetwork}
      />
      <Select
        label="Pictures"
        required
        placeholder={pictures.length === 0 ? 'The folder contains no folder' : 'Choose a folder'}
        data={pictures.map((file) => file.name)}
        value={people}
        onChange={setPeople}
      />
      <TextInput
        label="Name of the new pack"
        required
        value={name}
        error={name === '' || isNamed ? undefined : 'Use a–z, 0–9, . _ -'}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="Licence, as its source states it"
        required
        maxLength={128}
        value={licence}
        onChange={(event) => setLicence(event.currentTarget.value)}
      />
      <Select
        label="Commercial use"
        allowDeselect={false}
        data={['allowed', 'forbidden', 'unclear']}
        value={commercialUse}
        onChange={(value) => setCommercialUse(value ?? 'unclear')}
      />
      <NumberInput
        label="Values of a template"
        min={16}
        max={4096}
        allowDecimal={false}
        value={dimensions}
        onChange={setDimensions}
      />
    </CommandDialog>
  )
}
