/** Prints metadata-only lists in protobuf as the API server does. */

export interface ListedObject {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
}

export function encodeList(
  objects: readonly ListedObject[],
  {
    resourceVersion = '1',
    next = '',
    apiVersion = 'meta.k8s.io/v1',
    kind = 'PartialObjectMetadataList',
    within = Buffer.alloc(0),
  } = {},
): Buffer {
  const metadata = Buffer.concat([field(1, ''), field(2, resourceVersion), field(3, next)]);
  const items = objects.map((one) => {
    const names = [field(1, one.name), field(2, ''), field(3, one.namespace), field(5, `uid-${one.name}`)];
    const rest = [
      field(6, one.resourceVersion),
      Buffer.from([7 * 8, 0]),
      field(11, 'labels'),
      field(17, 'managers'),
    ];
    return field(2, field(1, Buffer.concat([...names, within, ...rest])));
  });
  const list = Buffer.concat([field(1, metadata), within, ...items]);
  const type = Buffer.concat([field(1, apiVersion), field(2, kind)]);
  return message(Buffer.concat([field(1, type), field(2, list), field(3, ''), field(4, '')]));
}

export function message(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from('k8s\0', 'latin1'), body]);
}

/** A field that has a length. */
export function field(number: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
