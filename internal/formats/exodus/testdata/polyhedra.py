"""Writes an Exodus file of two cubes as polyhedra that share a face, and a
hexahedron. VTK 9.2 crashes on it, so the test knows the answer by construction."""
import sys

import netCDF4 as nc
import numpy as np

f=nc.Dataset(sys.argv[1],'w',format=sys.argv[2] if len(sys.argv)>2 else 'NETCDF3_CLASSIC')
f.api_version=np.float32(5.03); f.version=np.float32(5.03); f.floating_point_word_size=np.int32(8); f.file_size=np.int32(1); f.title='poly'
# two cubes side by side as polyhedra, sharing a face, + an nsided block of 2 polygons + hex block
pts=[(x,y,z) for z in (0,1) for y in (0,1) for x in (0,1,2,3)]
def n(x,y,z): return 1+x+4*(y+2*z)
faces=[]
def face(*p): faces.append([n(*q) for q in p]); return len(faces)
els=[]
shared=None
for c in (0,1):
    a=c; b=c+1
    fl = shared if shared else face((a,0,0),(a,0,1),(a,1,1),(a,1,0))
    fr = face((b,0,0),(b,1,0),(b,1,1),(b,0,1)); shared=fr
    rest=[face((a,0,0),(b,0,0),(b,0,1),(a,0,1)),face((a,1,0),(a,1,1),(b,1,1),(b,1,0)),face((a,0,0),(a,1,0),(b,1,0),(b,0,0)),face((a,0,1),(b,0,1),(b,1,1),(a,1,1))]
    els.append([fl,fr]+rest)
f.createDimension('len_string',33); f.createDimension('len_line',81); f.createDimension('four',4); f.createDimension('len_name',33)
f.createDimension('time_step',None); f.createDimension('num_dim',3); f.createDimension('num_nodes',len(pts)); f.createDimension('num_elem',3); f.createDimension('num_el_blk',2); f.createDimension('num_faces',len(faces)); f.createDimension('num_fa_blk',1)
t=f.createVariable('time_whole','f8',('time_step',)); t[0]=0.5
for i,c in enumerate('xyz'):
    v=f.createVariable('coord'+c,'f8',('num_nodes',)); v[:]=[p[i] for p in pts]
v=f.createVariable('eb_status','i4',('num_el_blk',)); v[:]=1
v=f.createVariable('eb_prop1','i4',('num_el_blk',)); v.setncattr('name','ID'); v[:]=[10,20]
v=f.createVariable('fa_status','i4',('num_fa_blk',)); v[:]=1
v=f.createVariable('fa_prop1','i4',('num_fa_blk',)); v.setncattr('name','ID'); v[:]=[7]
f.createDimension('num_fa_in_blk1',len(faces)); tot=sum(map(len,faces)); f.createDimension('num_nod_per_fa1',tot)
v=f.createVariable('fbconn1','i4',('num_nod_per_fa1',)); v.elem_type='nsided'; v[:]=[i for q in faces for i in q]
v=f.createVariable('fbepecnt1','i4',('num_fa_in_blk1',)); v.entity_type1='NODE'; v.entity_type2='FACE'; v[:]=[len(q) for q in faces]
f.createDimension('num_el_in_blk1',2); tf=sum(map(len,els)); f.createDimension('num_fac_per_el1',tf)
v=f.createVariable('facconn1','i4',('num_fac_per_el1',)); v.elem_type='NFACED'; v[:]=[i for e in els for i in e]
v=f.createVariable('ebepecnt1','i4',('num_el_in_blk1',)); v.entity_type1='FACE'; v.entity_type2='ELEM'; v[:]=[len(e) for e in els]
f.createDimension('num_el_in_blk2',1); f.createDimension('num_nod_per_el2',8)
v=f.createVariable('connect2','i4',('num_el_in_blk2','num_nod_per_el2')); v.elem_type='HEX8'; v[:]=[[n(2,0,0),n(3,0,0),n(3,1,0),n(2,1,0),n(2,0,1),n(3,0,1),n(3,1,1),n(2,1,1)]]
f.createDimension('num_elem_var',1); v=f.createVariable('name_elem_var','S1',('num_elem_var','len_name')); v[0,:]=np.array(list('heat'.ljust(33,'\0')),dtype='S1')
v=f.createVariable('vals_elem_var1eb1','f8',('time_step','num_el_in_blk1')); v[0,:]=[3,4]
v=f.createVariable('vals_elem_var1eb2','f8',('time_step','num_el_in_blk2')); v[0,:]=[5]
f.close()
