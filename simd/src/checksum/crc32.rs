//! CRC-32, scalar: sixteen bytes a step through sixteen tables ("slicing by 16").

/// The polynomial of RFC 1952, bit-reversed.
pub(crate) const POLYNOMIAL: u32 = 0xedb8_8320;

const SLICES: usize = 16;

/// `TABLES[k][b]`: the CRC of byte `b` followed by `k` zero bytes.
static TABLES: [[u32; 256]; SLICES] = tables();

const fn tables() -> [[u32; 256]; SLICES] {
    let mut tables = [[0; 256]; SLICES];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut slice = 1;
    while slice < SLICES {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        slice += 1;
    }
    tables
}

/// Continues `seed` over `data`.
pub(crate) fn scalar(seed: u32, data: &[u8]) -> u32 {
    !update(!seed, data)
}

/// Continues a CRC that is not inverted.
pub(crate) fn update(mut crc: u32, data: &[u8]) -> u32 {
    let (blocks, rest) = data.as_chunks::<SLICES>();
    for block in blocks {
        let mixed = u128::from_le_bytes(*block) ^ u128::from(crc);
        crc = 0;
        for (index, byte) in mixed.to_le_bytes().into_iter().enumerate() {
            crc ^= TABLES[SLICES - 1 - index][usize::from(byte)];
        }
    }
    for &byte in rest {
        crc = (crc >> 8) ^ TABLES[0][usize::from(crc as u8 ^ byte)];
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_value_of_the_catalogue() {
        assert_eq!(scalar(0, b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn continues_at_any_split() {
        let data: Vec<u8> = (0..200u32).map(|i| ((i * i) >> 3) as u8).collect();
        let whole = scalar(0, &data);
        for split in 0..=data.len() {
            assert_eq!(scalar(scalar(0, &data[..split]), &data[split..]), whole);
        }
    }
}
